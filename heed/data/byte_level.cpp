#include "heed/data/byte_level.h"

namespace heed::data {
namespace {

// Bytes that are printable in Latin-1 stand for themselves.
constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr int kFirstBorrowed = 0x100;  // the others use the characters from here on, in order
constexpr int kBorrowed = 68;
constexpr int kCharacters = kFirstBorrowed + kBorrowed;

struct Alphabet {
  std::array<int16_t, 256> character;
  std::array<int16_t, kCharacters> byte;  // -1 for none
  std::array<uint8_t, 256> order;
};

constexpr Alphabet make_alphabet() {
  Alphabet made{};
  for (int16_t& byte : made.byte) byte = -1;
  int borrowed = 0;
  for (int b = 0; b < 256; ++b) {
    const int character = stands_for_itself(b) ? b : kFirstBorrowed + borrowed++;
    made.character[static_cast<size_t>(b)] = static_cast<int16_t>(character);
    made.byte[static_cast<size_t>(character)] = static_cast<int16_t>(b);
  }
  size_t at = 0;
  for (int16_t byte : made.byte) {
    if (byte >= 0) made.order[at++] = static_cast<uint8_t>(byte);
  }
  return made;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

const std::array<uint8_t, 256>& byte_level_order() { return kAlphabet.order; }

std::string to_byte_level(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) {
    const int character = kAlphabet.character[static_cast<uint8_t>(byte)];
    if (character < 0x80) {
      text += static_cast<char>(character);
    } else {
      text += static_cast<char>(0xC0 | character >> 6);
      text += static_cast<char>(0x80 | (character & 0x3F));
    }
  }
  return text;
}

std::optional<std::string> from_byte_level(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size(); ++at) {
    int character = static_cast<uint8_t>(text[at]);
    if (character >= 0x80) {
      // All characters of the alphabet take at most two bytes.
      if (character >= 0xE0 || ++at == text.size()) return std::nullopt;
      character = (character & 0x1F) << 6 | (static_cast<uint8_t>(text[at]) & 0x3F);
    }
    if (character >= kCharacters || kAlphabet.byte[static_cast<size_t>(character)] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[static_cast<size_t>(character)]);
  }
  return bytes;
}

}  // namespace heed::data
