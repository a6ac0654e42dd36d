// Sentences in random order, for texts whose lines are unrelated (One Billion Word).
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/batches.h"

namespace heed::data {

// A sentence ends with the stream's `end`. Each epoch shuffles the sentences within a slice (a shard) and
// assigns them in order to B sequences: a sequence that has reached the end of its
// sentence takes the next one. A sentence w1 .. wn gives inputs end, w1 .. wn and targets w1 .. wn, end.
// Empty lines are left out, so it does not matter whether the tokenizer puts `end` before a sentence as well.
//
// An epoch has floor(P / (B T)) steps for P targets in total. Unfinished sentences are cut off at its end,
// and sequences without a next sentence end with ignored targets.
class SentenceBatches : public NextTokenBatches {
 public:
  // `stream` must outlive the batches.
  SentenceBatches(const TokenStream& stream, BatchShape shape, uint64_t seed);
  // For a step that does not follow the last one, the epoch is replayed up to it.
  BatchInfo fill(int64_t step, int64_t chunk, const BatchSpans& to) override;

 private:
  struct Sentence {
    int64_t begin = 0, left = 0;  // the remaining targets
    bool begun = false;
  };
  std::vector<Sentence> sentences_of(size_t slice) const;
  void begin_epoch(int64_t epoch);
  bool next_sentence(Sentence& to);
  void pour(bool read);

  const TokenStream& stream_;
  uint64_t seed_;
  // The step that the members below belong to.
  int64_t step_ = -1;
  size_t next_slice_ = 0;
  std::vector<Sentence> order_;  // of the slice before next_slice_
  size_t next_in_order_ = 0;
  std::vector<Sentence> rows_;
  std::vector<int32_t> tokens_, targets_;  // [B, T]
  int64_t counted_ = 0;
};

}  // namespace heed::data
