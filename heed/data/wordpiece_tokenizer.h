// BERT's tokenizer (Devlin et al., 2018): words as bert_words.h has them, each cut into the longest pieces of
// the vocabulary from its start on ("##" begins a piece inside a word). A word of which some part is no
// piece, or that is too long, is [UNK]. Special tokens written in a text, such as "[MASK]", are those tokens.
//
// Ids do not tell what the steps to words lose: white space, accents and capital letters mostly. What stands
// around a text, [CLS] and [SEP], is not added here.
#pragma once

#include <memory>

#include "heed/data/tokenizer.h"
#include "heed/data/wordpiece_vocabulary.h"

namespace heed::data {

TokenizerEntry wordpiece_tokenizer();

std::unique_ptr<Tokenizer> make_wordpiece_tokenizer(WordPieceVocabulary vocabulary);

}  // namespace heed::data
