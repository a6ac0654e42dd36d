// Learns a byte-pair encoding from text (Sennrich et al., 2016; on bytes: Radford et al., 2019).
#pragma once

#include <cstdint>

#include "heed/data/bpe_vocabulary.h"
#include "heed/data/tokenizer.h"

namespace heed::data {

// Merges the most frequent pair of neighbours, again and again, until there are `vocabulary` tokens: 256
// bytes, the merged ones, <|endoftext|>. Among pairs of equal count the one with the smaller left id, then
// right id. An Error if the text runs out of pairs that occur twice.
BpeVocabulary learn_bpe(int64_t vocabulary, const TextSource& text);

}  // namespace heed::data
