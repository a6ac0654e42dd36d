// Batches: B sequences of T tokens, identified by the number of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/token_stream.h"
#include "heed/tensor/batch.h"

namespace heed::data {

inline constexpr int32_t kIgnored = -1;  // as a target: this position does not count

struct BatchShape {
  int64_t sequences = 1;  // B
  int64_t length = 1;     // T
  int64_t chunks = 1;     // a batch is filled in this many chunks of B / chunks sequences
};

// Where one chunk of a batch is written, in the order of Batches::inputs().
using BatchSpans = std::vector<std::span<int32_t>>;

struct BatchInfo {
  int64_t epoch = 0;
  bool first_of_epoch = false;  // sequences do not continue those of the step before
  int64_t counted = 0;          // positions of this chunk whose target is not ignored
  int64_t counted_in_batch = 0;
};

// Sequence b of step n + 1 continues sequence b of step n, within an epoch. What a step holds is a function
// of its number: a resumed run needs nothing else. Advancing by one step is cheap; jumping elsewhere may not
// be.
class Batches {
 public:
  virtual ~Batches() = default;
  const BatchShape& shape() const { return shape_; }
  int64_t segments() const { return segments_; }  // steps of an epoch
  // Names of what a batch consists of.
  const std::vector<std::string>& inputs() const { return inputs_; }
  // The places of these in the memory of a program, found once. Throws if its model reads anything else.
  BatchSpans find(const Batch& batch) const;
  virtual BatchInfo fill(int64_t step, int64_t chunk, const BatchSpans& to) = 0;
  // Where in the text the first target of a sequence is, as a number of tokens from its beginning; those
  // after it follow. Nothing if sequences are not read from one place.
  virtual std::optional<int64_t> first_target(int64_t step, int64_t sequence) const;

 protected:
  // `name` is the name of the text in messages.
  Batches(BatchShape shape, const std::string& name, std::vector<std::string> inputs);
  int64_t rows() const { return shape_.sequences / shape_.chunks; }

  BatchShape shape_;
  int64_t segments_ = 0;

 private:
  std::vector<std::string> inputs_;
};

// Batches of "tokens" [B / chunks, T] and "targets" [B / chunks * T]. The target is the next token. Where the
// text ends too early, tokens are 0 and targets kIgnored. This happens at the ends of epochs only, so no
// later token is influenced if memory is cleared there.
class NextTokenBatches : public Batches {
 protected:
  struct Spans {
    std::span<int32_t> tokens, targets;
  };
  NextTokenBatches(BatchShape shape, const std::string& name) : Batches(shape, name, {"tokens", "targets"}) {}
  Spans checked(int64_t step, int64_t chunk, const BatchSpans& to) const;
};

struct StreamOptions {
  bool roll = false;           // each epoch starts its streams at other offsets
  uint64_t seed = 0;           // of these offsets
  bool short_segment = true;   // false: an epoch ends before a segment that is not whole
  int64_t warm_up_tokens = 0;  // context that every counted token should have (evaluation only)
};

// The N tokens as B contiguous streams of floor(N / B), read in parallel. The first token of a stream is not
// predicted, so an epoch counts B (floor(N / B) - 1) positions.
//
// With a warm-up of M tokens an epoch starts with ceil(M / T) segments that are not counted: the tokens
// before each stream, which end the previous stream; the last stream comes before the first.
class StreamBatches : public NextTokenBatches {
 public:
  // `stream` must outlive the batches.
  StreamBatches(const TokenStream& stream, BatchShape shape, StreamOptions options = {});
  BatchInfo fill(int64_t step, int64_t chunk, const BatchSpans& to) override;
  std::optional<int64_t> first_target(int64_t step, int64_t sequence) const override;
  int64_t counted_in_epoch() const;

 private:
  int64_t offset(int64_t epoch, int64_t row) const;
  void read(int64_t row, int64_t at, int64_t offset, std::span<int32_t> to) const;

  const TokenStream& stream_;
  StreamOptions options_;
  int64_t row_length_;
  int64_t warm_up_segments_;
  std::vector<int32_t> read_;  // T + 1 tokens of one row
};

}  // namespace heed::data
