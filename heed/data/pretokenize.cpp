#include "heed/data/pretokenize.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "heed/data/utf8.h"

namespace heed::data {
namespace {

enum Class : uint8_t { kLetter, kNumber, kSpace, kOther, kNotAscii };

Class class_of(int32_t code_point) {
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kSpace;
    default:
      // White_Space is the Z categories and these control characters: tab to carriage return, next line.
      return (code_point >= 9 && code_point <= 13) || code_point == 0x85 ? kSpace : kOther;
  }
}

constexpr int32_t kTableSize =
    0x10000;  // characters beyond the basic plane are rare enough to ask the library

struct Tables {
  std::array<Class, 256> bytes;  // of a character that is this byte alone; kNotAscii from 128 on
  std::array<Class, kTableSize> code_points;
};

const Tables& tables() {
  static const std::unique_ptr<const Tables> all = [] {
    auto made = std::make_unique<Tables>();
    for (int32_t c = 0; c < kTableSize; ++c) made->code_points[static_cast<size_t>(c)] = class_of(c);
    for (size_t b = 0; b < 256; ++b) made->bytes[b] = b < 128 ? made->code_points[b] : kNotAscii;
    return made;
  }();
  return *all;
}

struct Character {
  Class kind;
  uint8_t length;
};

Character character_beyond_ascii(const Tables& table, std::string_view text, size_t at) {
  const auto [code_point, length] = utf8_at(text, at);
  if (code_point < 0) return {kOther, 1};
  return {code_point < kTableSize ? table.code_points[static_cast<size_t>(code_point)] : class_of(code_point),
          length};
}

Character character_at(const Tables& table, std::string_view text, size_t at) {
  const Class kind = table.bytes[static_cast<uint8_t>(text[at])];
  return kind != kNotAscii ? Character{kind, 1} : character_beyond_ascii(table, text, at);
}

// The character that ends at `end` > 0. First bytes and ASCII always start a character, so the nearest one
// before `end` says how the bytes in between are read.
Character character_before(const Tables& table, std::string_view text, size_t end) {
  for (size_t length = 1; length <= std::min<size_t>(end, 4); ++length) {
    if (is_continuation(text[end - length])) continue;
    const Character found = character_at(table, text.substr(0, end), end - length);
    if (found.length == length) return found;
    break;
  }
  return {kOther, 1};
}

size_t run_end(const Tables& table, std::string_view text, size_t at, Class kind) {
  while (at < text.size()) {
    const Class ascii = table.bytes[static_cast<uint8_t>(text[at])];
    if (ascii == kind) {
      ++at;
    } else if (ascii != kNotAscii) {
      break;
    } else {
      const Character next = character_beyond_ascii(table, text, at);
      if (next.kind != kind) break;
      at += next.length;
    }
  }
  return at;
}

// Length of 's 't 're 've 'm 'll 'd at the apostrophe `at`; 0 if it is none of them.
size_t contraction(std::string_view text, size_t at) {
  const char first = at + 1 < text.size() ? text[at + 1] : '\0';
  const char second = at + 2 < text.size() ? text[at + 2] : '\0';
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l')) return 3;
  return 0;
}

}  // namespace

size_t pretoken_end(std::string_view text, size_t begin) {
  const Tables& table = tables();
  if (text[begin] == '\'') {
    if (const size_t length = contraction(text, begin)) return begin + length;
  }
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    const Character next = character_at(table, text, begin + 1);
    if (next.kind != kSpace) return run_end(table, text, begin + 1 + next.length, next.kind);
  }
  const Character first = character_at(table, text, begin);
  const size_t end = run_end(table, text, begin + first.length, first.kind);
  if (first.kind != kSpace || end == text.size()) return end;
  // \s+(?!\S) leaves one character, which the next piece may take as its space; \s+ takes it if it is
  // alone.
  const size_t last = end - character_before(table, text, end).length;
  return last > begin ? last : end;
}

// No piece continues from a letter or a number to another class, or from any sign to white space, and what
// follows there does not change the piece before. From another sign to a letter there may be a
// contraction, and white space depends on what follows it.
size_t pretoken_cut_before(std::string_view text, size_t position) {
  const Tables& table = tables();
  if (position >= text.size()) return text.size();
  for (size_t at = position; at > 0; --at) {
    if (is_continuation(text[at])) continue;
    const Class before = character_before(table, text, at).kind, after = character_at(table, text, at).kind;
    if (before == kSpace || before == after) continue;
    if (before != kOther || after != kLetter) return at;
  }
  return 0;
}

}  // namespace heed::data
