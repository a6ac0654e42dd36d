// Learns a vocabulary of word pieces from text.
//
// The words are those of bert_words.h. Pieces grow from characters: the pair of neighbours that occurs most
// often in all words becomes one piece, again and again, as Hugging Face's trainer does. (Schuster and
// Nakajima, 2012, who invented WordPiece, choose the pair that helps the likelihood of the text most. BERT's
// own trainer was never published.) Text is still encoded by the longest piece first, not by merges.
#pragma once

#include <cstdint>

#include "heed/data/tokenizer.h"
#include "heed/data/wordpiece_vocabulary.h"

namespace heed::data {

// The special tokens, then characters by code point, each also with ## if it can continue a word, then the
// merged pieces in order. Ties are broken by the smaller left id, then the smaller right id: the same text
// gives the same vocabulary. Rare characters are left out as long as they are together at most one in
// 10 000, and more of them if they do not fit; words with them are unknown. Throws if the text runs out of
// pairs that occur twice. With 0: kUsualWordPieces, or fewer if the text runs out.
inline constexpr int64_t kUsualWordPieces = 4096;
WordPieceVocabulary learn_wordpiece(int64_t vocabulary, const BertWordSettings& words,
                                    const TextSource& text);

}  // namespace heed::data
