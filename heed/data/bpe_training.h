// Learns a byte-pair encoding from text (Sennrich et al., 2016; on bytes: Radford et al., 2019).
#pragma once

#include <cstdint>

#include "heed/data/bpe_vocabulary.h"
#include "heed/data/tokenizer.h"

namespace heed::data {

// Repeatedly merges the most frequent pair of neighbours until there are `vocabulary` tokens: 256 bytes, the
// merged ones, <|endoftext|>. Ties are broken by the smaller left id, then the smaller right id. There are
// fewer if the text runs out of pairs that occur twice. With 0: kUsualVocabulary, or fewer.
inline constexpr int64_t kUsualVocabulary = 4096;
BpeVocabulary learn_bpe(int64_t vocabulary, const TextSource& text);

}  // namespace heed::data
