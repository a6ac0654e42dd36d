// Bytes that arrive in chunks, as text: tokens may end in the middle of a character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

// Returns valid UTF-8 only, as early as possible. Bytes of an incomplete character wait for
// the next chunk. What can never become a character (overlong forms, surrogates, beyond U+10FFFF, stray
// bytes) is replaced by U+FFFD: one for each longest beginning of a character (The Unicode Standard, 3.9),
// as Python and browsers do.
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  // The end of the text: an incomplete character becomes U+FFFD. The decoder is then ready for a new text.
  std::string finish();

 private:
  void take(uint8_t byte, std::string& out);

  std::string waiting_;
  int missing_ = 0;                         // bytes to come
  uint8_t lowest_ = 0x80, highest_ = 0xBF;  // of the next one
};

}  // namespace heed
