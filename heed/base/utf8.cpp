#include "heed/base/utf8.h"

#include <utility>

namespace heed {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

void Utf8Stream::take(uint8_t byte, std::string& out) {
  if (missing_ > 0) {
    const bool fits = byte >= lowest_ && byte <= highest_;
    lowest_ = 0x80, highest_ = 0xBF;
    if (fits) {
      waiting_ += static_cast<char>(byte);
      if (--missing_ == 0) out += std::exchange(waiting_, "");
      return;
    }
    out += kReplacement;
    waiting_.clear();
    missing_ = 0;  // and this byte may begin something new
  }
  if (byte < 0x80) {
    out += static_cast<char>(byte);
    return;
  }
  // The first byte gives the length. For some the second byte has a narrower range: below it the form would
  // be overlong (C2 and up need no rule, C0 and C1 are always overlong), above it are surrogates
  // (ED) or numbers beyond U+10FFFF (F4).
  if (byte >= 0xC2 && byte <= 0xDF) {
    missing_ = 1;
  } else if (byte >= 0xE0 && byte <= 0xEF) {
    missing_ = 2;
    if (byte == 0xE0) lowest_ = 0xA0;
    if (byte == 0xED) highest_ = 0x9F;
  } else if (byte >= 0xF0 && byte <= 0xF4) {
    missing_ = 3;
    if (byte == 0xF0) lowest_ = 0x90;
    if (byte == 0xF4) highest_ = 0x8F;
  } else {
    out += kReplacement;
    return;
  }
  waiting_ = static_cast<char>(byte);
}

std::string Utf8Stream::push(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (char byte : bytes) take(static_cast<uint8_t>(byte), out);
  return out;
}

std::string Utf8Stream::finish() {
  std::string out(missing_ > 0 ? kReplacement : "");
  *this = {};
  return out;
}

}  // namespace heed
