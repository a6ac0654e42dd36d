// GPT-2's tokenizer (Radford et al., 2019): a byte-level byte-pair encoding on the pieces of pretokenize.h.
// Any bytes can be encoded and decode to the same bytes. Special tokens in a text are encoded as plain text.
//
// A learned vocabulary has GPT-2's layout: the 256 bytes, the merges in order, <|endoftext|> as the last id.
#pragma once

#include <memory>

#include "heed/data/bpe_vocabulary.h"
#include "heed/data/tokenizer.h"

namespace heed::data {

TokenizerEntry bpe_tokenizer();

std::unique_ptr<Tokenizer> make_bpe_tokenizer(BpeVocabulary vocabulary);

}  // namespace heed::data
