// UTF-8 of texts that may be damaged. Overlong forms, surrogates and anything beyond U+10FFFF are invalid,
// and each invalid byte counts alone. So ASCII and first bytes always start a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed::data {

struct Utf8Character {
  int32_t code_point = -1;  // -1: an invalid byte
  uint8_t length = 1;
};

inline bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// The character that begins at `at` < text.size().
inline Utf8Character utf8_at(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  if (first < 0x80) return {first, 1};
  const uint8_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || length > text.size() - at) return {};
  int32_t code_point = first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return {};
    code_point = code_point << 6 | (text[at + i] & 0x3F);
  }
  if (length == 3 && (code_point < 0x800 || (code_point >= 0xD800 && code_point <= 0xDFFF))) return {};
  if (length == 4 && (code_point < 0x10000 || code_point > 0x10FFFF)) return {};
  return {code_point, length};
}

// `code_point` must be one.
inline void append_utf8(int32_t code_point, std::string& text) {
  const auto rest = [&](int shift) { return static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += {static_cast<char>(0xC0 | code_point >> 6), rest(0)};
  } else if (code_point < 0x10000) {
    text += {static_cast<char>(0xE0 | code_point >> 12), rest(6), rest(0)};
  } else {
    text += {static_cast<char>(0xF0 | code_point >> 18), rest(12), rest(6), rest(0)};
  }
}

inline bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_at(text, at);
    if (character.code_point < 0) return false;
    at += character.length;
  }
  return true;
}

}  // namespace heed::data
