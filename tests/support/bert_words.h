// The words of a text as BERT cuts it, in UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/data/bert_words.h"
#include "heed/data/utf8.h"

namespace heed::test {

inline std::vector<std::string> bert_words_of(std::string_view text,
                                              const data::BertWordSettings& settings = {}) {
  std::vector<std::string> words;
  data::BertNormalizer normalizer(settings);
  data::each_chunk(text, [&](size_t begin, size_t end, bool) {
    data::each_word(normalizer.normalize(text.substr(begin, end - begin)), [&](auto word) {
      words.emplace_back();
      for (const data::WordCharacter& c : word) data::append_utf8(c.code_point, words.back());
    });
  });
  return words;
}

}  // namespace heed::test
