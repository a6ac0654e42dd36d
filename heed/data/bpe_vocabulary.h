// The data of a byte-level byte-pair encoding, which is learned, read and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/bpe_merges.h"
#include "heed/data/tokenizer_json.h"

namespace heed::data {

struct BpeVocabulary {
  // Ends a document.
  static constexpr const char* kEndOfText = "<|endoftext|>";

  std::vector<std::string> tokens;  // bytes by id, including the added ones
  BpeMerges merges;
  // No text encodes to them: their letters in a text are encoded as ordinary text. By rising id.
  std::vector<AddedToken> added;
};

}  // namespace heed::data
