// Bytes as printable characters, the way GPT-2's vocabulary files write them: each of the 256 bytes has one
// character, so that any token is a string without white space. ' ' is written U+0120, '\n' U+010A.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed::data {

// The 256 bytes in the order of their characters, which is the order of GPT-2's first 256 ids.
const std::array<uint8_t, 256>& byte_level_order();

std::string to_byte_level(std::string_view bytes);
// Nothing if the text has a character that is not in the alphabet.
std::optional<std::string> from_byte_level(std::string_view text);

}  // namespace heed::data
