// A byte-pair encoding in files: GPT-2's encoder.json and vocab.bpe, and Hugging Face's tokenizer.json.
#pragma once

#include <string_view>

#include "heed/base/fields.h"
#include "heed/data/bpe_vocabulary.h"

namespace heed::data {

// Whether the file holds a byte-pair encoding, and is not one that heed wrote for another kind.
bool is_bpe_json(const Json& json);
// Refuses, by name, whatever would give other ids than GPT-2's: other splitters, normalizers, prefixes.
BpeVocabulary bpe_from_json(const Json& json);
Json bpe_to_json(const BpeVocabulary& vocabulary);

// `merges`: a line "#version ..." if there is one, then "left right" lines.
BpeVocabulary bpe_from_gpt2_files(const Json& encoder, std::string_view merges);

}  // namespace heed::data
