// The data of a WordPiece tokenizer, which is learned, read and written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/bert_words.h"
#include "heed/data/tokenizer_json.h"

namespace heed::data {

struct WordPieceVocabulary {
  static constexpr const char* kUnknown = "[UNK]";
  // BERT cannot do without any of them. A learned vocabulary begins with them.
  static constexpr std::array<const char*, 5> kSpecial = {"[PAD]", kUnknown, "[CLS]", "[SEP]", "[MASK]"};
  // Begins the pieces that continue a word.
  static constexpr const char* kPrefix = "##";

  std::vector<std::string> tokens;  // UTF-8 by id, including the added ones
  // In a text they stand for themselves, wherever they are; the five above are among them. By rising id.
  std::vector<AddedToken> added;
  BertWordSettings words;
  int64_t longest_word = 100;  // characters; longer words are unknown
};

}  // namespace heed::data
