// Texts that hurt tokenizers, the same ones for the same seed.
#pragma once

#include <string>
#include <vector>

#include "heed/base/philox.h"

namespace heed::test {

inline std::string random_bytes(Rng& rng, int64_t length) {
  std::string text;
  for (int64_t i = 0; i < length; ++i) text += static_cast<char>(rng.below(256));
  return text;
}

// Letters, digits, signs and white space of several scripts, apostrophes, and parts of characters.
inline std::string random_text(Rng& rng, int64_t length) {
  static const std::vector<std::string> parts = {"a",        "b",
                                                 "s",        "re",
                                                 "'",        "'ll",
                                                 "1",        "23",
                                                 " ",        " ",
                                                 "  ",       "\n",
                                                 "\t",       "\r\n",
                                                 ".",        "-",
                                                 "é",        "e\u0301",
                                                 "ß",        "字",
                                                 "。",       "א",
                                                 "ع",        "٣",
                                                 "½",        "Ⅷ",
                                                 "😀",        "👩\u200d🚀",
                                                 "\u00a0",   "\u2003",
                                                 "\u3000",   "\u0085",
                                                 "\ufeff",   "\u2028",
                                                 "𝔸",        "𝟙",
                                                 "\x01",     "\x7f",
                                                 "\xff",     "\xc3",
                                                 "\xe2\x80", "\xed\xa0\x80",
                                                 "\xc0\xa0", "\xf4\x90\x80\x80",
                                                 "\x80",     "_"};
  std::string text;
  for (int64_t i = 0; i < length; ++i)
    text += parts[static_cast<size_t>(rng.below(static_cast<int64_t>(parts.size())))];
  return text;
}

}  // namespace heed::test
