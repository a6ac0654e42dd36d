// The data of a byte-level byte-pair encoding, which is learned, read and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/bpe_merges.h"

namespace heed::data {

struct BpeVocabulary {
  // Ends a document.
  static constexpr const char* kEndOfText = "<|endoftext|>";

  // Special tokens, which no text encodes to: their letters in a text are encoded as ordinary text.
  struct Added {
    int32_t id = 0;
    std::string content;
    bool special = true;
  };

  std::vector<std::string> tokens;  // bytes by id, including the added ones
  BpeMerges merges;
  std::vector<Added> added;  // by rising id
};

}  // namespace heed::data
