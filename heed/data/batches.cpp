#include "heed/data/batches.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/philox.h"
#include "heed/base/units.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of dropout masks, where this is the high word of the step.
constexpr uint32_t kRollCounter = 0xFFFFFFFF;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

Batches::Batches(BatchShape shape, const std::string& name, std::vector<std::string> inputs)
    : shape_(shape), inputs_(std::move(inputs)) {
  if (shape.sequences < 1 || shape.length < 1 || shape.chunks < 1 || shape.sequences % shape.chunks != 0) {
    throw usage_error("data: ", name, " cannot be read in batches of ", shape.sequences, " x ", shape.length,
                      " tokens in ", shape.chunks,
                      " chunks; all three must be at least 1, and sequences a multiple of chunks");
  }
}

BatchSpans Batches::find(const Batch& batch) const {
  std::string read, written;
  for (const auto& [name, tensor] : batch.all()) read += text(read.empty() ? "" : ", ", name);
  BatchSpans spans;
  for (const std::string& name : inputs_) {
    written += text(written.empty() ? "" : ", ", name);
    if (batch.all().contains(name)) spans.push_back(batch.all().at(name).ints());
  }
  if (spans.size() != inputs_.size() || spans.size() != batch.all().size())
    throw usage_error("data: batches consist of ", written, ", the model reads ", read,
                      "; give the model another embedding or head, or train it for another task");
  return spans;
}

std::optional<int64_t> Batches::first_target(int64_t, int64_t) const { return std::nullopt; }

NextTokenBatches::Spans NextTokenBatches::checked(int64_t step, int64_t chunk, const BatchSpans& to) const {
  HEED_ASSERT(step >= 0 && chunk >= 0 && chunk < shape_.chunks);
  HEED_ASSERT(to.size() == inputs().size());
  HEED_ASSERT(static_cast<int64_t>(to[0].size()) == rows() * shape_.length && to[0].size() == to[1].size());
  return {to[0], to[1]};
}

StreamBatches::StreamBatches(const TokenStream& stream, BatchShape shape, StreamOptions options)
    : NextTokenBatches(shape, stream.name()),
      stream_(stream),
      options_(options),
      row_length_(stream.size() / shape.sequences),
      warm_up_segments_(ceil_divide(options.warm_up_tokens, shape.length)),
      read_(static_cast<size_t>(shape.length + 1)) {
  HEED_ASSERT(options.warm_up_tokens >= 0);
  // Rolled streams start anywhere: nothing comes before them.
  HEED_ASSERT(!(options.roll && options.warm_up_tokens > 0));
  const int64_t least = options.short_segment ? 2 : shape.length + 1;
  if (row_length_ < least) {
    throw usage_error("data: ", stream.name(), " has ", format_plural(stream.size(), "token"),
                      ", too few for batches of ", shape.sequences, " x ", shape.length, "; at least ",
                      shape.sequences * least, " are needed: give a longer text, or a smaller batch");
  }
  const int64_t predicted = row_length_ - 1;
  segments_ = warm_up_segments_ +
              (options.short_segment ? ceil_divide(predicted, shape.length) : predicted / shape.length);
}

int64_t StreamBatches::counted_in_epoch() const {
  const int64_t whole = (segments_ - warm_up_segments_) * shape_.length;
  return shape_.sequences * std::min(whole, row_length_ - 1);
}

std::optional<int64_t> StreamBatches::first_target(int64_t step, int64_t sequence) const {
  if (options_.roll) return std::nullopt;  // a segment may go on at the stream's beginning
  return sequence * row_length_ + (step % segments_ - warm_up_segments_) * shape_.length + 1;
}

// The offset in its tokens where a row starts.
int64_t StreamBatches::offset(int64_t epoch, int64_t row) const {
  if (!options_.roll) return 0;
  const auto e = static_cast<uint64_t>(epoch);
  const auto words = philox(
      {static_cast<uint32_t>(row), static_cast<uint32_t>(e), static_cast<uint32_t>(e >> 32), kRollCounter},
      {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)});
  return static_cast<int64_t>((static_cast<uint64_t>(words[0]) << 32 | words[1]) %
                              static_cast<uint64_t>(row_length_));
}

// Tokens [at, at + to.size()) of a row that starts at `offset`. A rotated row wraps around; a warm-up has
// at < 0 and reads from the rows before, where the last row comes before the first.
void StreamBatches::read(int64_t row, int64_t at, int64_t offset, std::span<int32_t> to) const {
  const bool before = at < 0;
  const int64_t circle = before ? row_length_ * shape_.sequences : row_length_;
  const int64_t begin = before ? 0 : row * row_length_;
  int64_t from = ((before ? row * row_length_ : offset) + at) % circle;
  if (from < 0) from += circle;
  while (!to.empty()) {
    const int64_t count = std::min(circle - from, static_cast<int64_t>(to.size()));
    stream_.copy(begin + from, count, to.data());
    to = to.subspan(static_cast<size_t>(count));
    from = 0;
  }
}

BatchInfo StreamBatches::fill(int64_t step, int64_t chunk, const BatchSpans& to) {
  const auto [tokens, targets] = checked(step, chunk, to);
  const int64_t length = shape_.length, segment = step % segments_;
  const int64_t at = (segment - warm_up_segments_) * length;
  const bool warm_up = at < 0;
  const int64_t real = std::min(length, row_length_ - 1 - at);
  std::fill(tokens.begin(), tokens.end(), 0);
  std::fill(targets.begin(), targets.end(), kIgnored);
  for (int64_t r = 0; r < rows(); ++r) {
    const int64_t row = chunk * rows() + r;
    read(row, at, offset(step / segments_, row), std::span(read_).first(static_cast<size_t>(real + 1)));
    std::copy_n(read_.begin(), real, tokens.begin() + r * length);
    if (!warm_up) std::copy_n(read_.begin() + 1, real, targets.begin() + r * length);
  }
  const int64_t counted = warm_up ? 0 : real;
  return {step / segments_, segment == 0, counted * rows(), counted * shape_.sequences};
}

}  // namespace heed::data
