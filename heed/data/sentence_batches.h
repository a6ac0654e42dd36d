// Sentences in random order, for texts whose lines have nothing to do with each other (One Billion Word).
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/batches.h"

namespace heed::data {

// Sentences are what ends with Stream's `end`. Each epoch shuffles those of a piece (a shard) among
// themselves and pours them one after another into B sequences: a sequence that has come to the end of its
// sentence takes the next one. A sentence w1 .. wn gives inputs end, w1 .. wn and targets w1 .. wn, end.
// Empty lines are left out, so it does not matter whether the tokenizer puts `end` before a sentence as well.
//
// An epoch has floor(P / (B T)) steps for P targets in all. The sentences that are unfinished then are cut
// off, and sequences that find no sentence any more end with ignored targets.
class SentenceBatches : public Batches {
 public:
  // `stream` must outlive the batches.
  SentenceBatches(const TokenStream& stream, BatchShape shape, uint64_t seed);
  // For a step that does not follow the last one, the epoch is gone through again up to it.
  BatchInfo fill(int64_t step, int64_t chunk, std::span<int32_t> tokens, std::span<int32_t> targets) override;

 private:
  struct Sentence {
    int64_t begin = 0, left = 0;  // the targets that are still to come
    bool begun = false;
  };
  std::vector<Sentence> sentences_of(size_t piece) const;
  void begin_epoch(int64_t epoch);
  bool next_sentence(Sentence& to);
  void pour(bool read);

  const TokenStream& stream_;
  uint64_t seed_;
  // The step the members below stand for.
  int64_t step_ = -1;
  size_t next_piece_ = 0;
  std::vector<Sentence> order_;  // of the piece before next_piece_
  size_t next_in_order_ = 0;
  std::vector<Sentence> rows_;
  std::vector<int32_t> tokens_, targets_;  // [B, T]
  int64_t counted_ = 0;
};

}  // namespace heed::data
