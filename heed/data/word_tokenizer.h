// Words between white space, one line at a time, case kept; the vocabulary is the words that occur, by
// falling count, ties by first appearance. White space and line ends are those of Python, in which the
// papers' texts were read: str.split(), and '\n', '\r' or "\r\n".
//
// "words" (WikiText, Merity et al., 2017): <eos> after every line, so a blank line gives <eos> alone. <eos>
// is id 0. Unknown words become <unk> if the vocabulary has it, else encoding throws; WikiText's files have
// <unk> as a word. With a limit it is always there, counted with the words it replaces.
//
// "lm1b" (One Billion Word Benchmark, Chelba et al., 2013): a sentence is <S> word word <S>, blank lines give
// nothing. <S> is id 0, <UNK> id 1; words seen less than three times are left out, as in the benchmark.
#pragma once

#include "heed/data/tokenizer.h"

namespace heed::data {

TokenizerEntry word_tokenizer();
TokenizerEntry lm1b_tokenizer();

}  // namespace heed::data
