// Where a text may safely be cut when nothing is known about its tokens.
#pragma once

#include <algorithm>
#include <string_view>

namespace heed::data {

// A position in [wanted - reach, wanted]: the start of the last line; else the last space, which stays with
// the word after it; else the start of the last UTF-8 character.
inline size_t cut_near(std::string_view text, size_t wanted, size_t reach) {
  if (wanted >= text.size()) return text.size();
  const size_t least = wanted - std::min(reach, wanted);
  const std::string_view window = text.substr(least, wanted - least);
  if (const size_t line_end = window.rfind('\n'); line_end != window.npos) return least + line_end + 1;
  if (const size_t blank = window.rfind(' '); blank != window.npos && least + blank > 0) return least + blank;
  size_t begin = wanted;
  while (begin > least && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return begin;
}

}  // namespace heed::data
