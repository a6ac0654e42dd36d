// A WordPiece vocabulary in files: BERT's vocab.txt, and Hugging Face's tokenizer.json.
#pragma once

#include <string_view>

#include "heed/base/fields.h"
#include "heed/data/wordpiece_vocabulary.h"

namespace heed::data {

// Whether the file holds WordPieces, and is not one that heed wrote for another kind.
bool is_wordpiece_json(const Json& json);
// Refuses, by name, whatever would give other ids than BERT's way: other normalizers, splitters, prefixes.
WordPieceVocabulary wordpiece_from_json(const Json& json);
Json wordpiece_to_json(const WordPieceVocabulary& vocabulary);

// A token per line; its number is its id. `config` is the tokenizer_config.json beside it, whose
// do_lower_case, strip_accents and tokenize_chinese_chars count; null if there is none. Without
// do_lower_case the vocabulary tells: it lowers unless a token has a capital letter.
WordPieceVocabulary wordpiece_from_lines(std::string_view lines, const Json& config);

}  // namespace heed::data
