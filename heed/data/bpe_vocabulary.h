// A byte-level byte-pair encoding as data: what is learned, read and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/bpe_merges.h"

namespace heed::data {

struct BpeVocabulary {
  // Ends a document.
  static constexpr const char* kEndOfText = "<|endoftext|>";

  // Tokens that stand for themselves, not for text: where their letters come in a text they are only letters.
  struct Added {
    int32_t id = 0;
    std::string content;
    bool special = true;
  };

  std::vector<std::string> tokens;  // bytes by id, those of the added ones as well
  BpeMerges merges;
  std::vector<Added> added;  // by rising id
};

}  // namespace heed::data
