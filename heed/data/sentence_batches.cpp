#include "heed/data/sentence_batches.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/hash.h"
#include "heed/base/philox.h"

namespace heed::data {
namespace {

constexpr int64_t kBlock = 1 << 20;

}  // namespace

SentenceBatches::SentenceBatches(const TokenStream& stream, BatchShape shape, uint64_t seed)
    : NextTokenBatches(shape, stream.name()), stream_(stream), seed_(seed) {
  if (stream.end() < 0) {
    throw usage_error("data: ", stream.name(),
                      " cannot be read by sentences: the vocabulary has no token that ends one; use a word "
                      "vocabulary, or batches of the running text");
  }
  int64_t targets = 0;
  for (size_t slice = 0; slice < stream.slice_ends().size(); ++slice) {
    for (const Sentence& sentence : sentences_of(slice)) targets += sentence.left;
  }
  segments_ = targets / (shape.sequences * shape.length);
  if (segments_ < 1) {
    throw usage_error("data: the sentences of ", stream.name(), " have ", targets,
                      " words and ends, too few for batches of ", shape.sequences, " x ", shape.length,
                      "; at least ", shape.sequences * shape.length,
                      " are needed: give a longer text, or a smaller batch");
  }
  tokens_.resize(static_cast<size_t>(shape.sequences * shape.length));
  targets_.resize(tokens_.size());
}

std::vector<SentenceBatches::Sentence> SentenceBatches::sentences_of(size_t slice) const {
  const int64_t slice_end = stream_.slice_ends()[slice];
  const int64_t slice_begin = slice == 0 ? 0 : stream_.slice_ends()[slice - 1];
  std::vector<Sentence> sentences;
  std::vector<int32_t> block(static_cast<size_t>(std::min(kBlock, slice_end - slice_begin)));
  int64_t begin = slice_begin;
  for (int64_t at = slice_begin; at < slice_end; at += kBlock) {
    const int64_t count = std::min(kBlock, slice_end - at);
    stream_.copy(at, count, block.data());
    for (int64_t i = 0; i < count; ++i) {
      if (block[static_cast<size_t>(i)] != stream_.end()) continue;
      if (at + i > begin) sentences.push_back({begin, at + i + 1 - begin});
      begin = at + i + 1;
    }
  }
  if (begin < slice_end) sentences.push_back({begin, slice_end - begin});
  return sentences;
}

void SentenceBatches::begin_epoch(int64_t epoch) {
  step_ = epoch * segments_ - 1;
  next_slice_ = 0;
  order_.clear();
  next_in_order_ = 0;
  rows_.assign(static_cast<size_t>(shape_.sequences), {});
}

bool SentenceBatches::next_sentence(Sentence& to) {
  while (next_in_order_ == order_.size()) {
    if (next_slice_ == stream_.slice_ends().size()) return false;
    order_ = sentences_of(next_slice_);
    const std::array<uint64_t, 3> words = {seed_, static_cast<uint64_t>(step_ / segments_), next_slice_};
    Rng rng(hash_bytes({reinterpret_cast<const char*>(words.data()), sizeof words}));
    for (size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
    next_in_order_ = 0;
    ++next_slice_;
  }
  to = order_[next_in_order_++];
  return true;
}

// Advances by one step, without reading it if it only leads to a later one.
void SentenceBatches::pour(bool read) {
  ++step_;
  counted_ = 0;
  std::fill(tokens_.begin(), tokens_.end(), 0);
  std::fill(targets_.begin(), targets_.end(), kIgnored);
  for (int64_t r = 0; r < shape_.sequences; ++r) {
    Sentence& row = rows_[static_cast<size_t>(r)];
    int32_t* token = tokens_.data() + r * shape_.length;
    int32_t* target = targets_.data() + r * shape_.length;
    for (int64_t t = 0; t < shape_.length;) {
      if (row.left == 0 && !next_sentence(row)) break;
      const int64_t count = std::min(row.left, shape_.length - t);
      if (read) {
        stream_.copy(row.begin, count, target + t);
        token[t] = stream_.end();
        if (row.begun) stream_.copy(row.begin - 1, 1, token + t);
        std::copy_n(target + t, count - 1, token + t + 1);
      }
      row = {row.begin + count, row.left - count, true};
      t += count;
      counted_ += count;
    }
  }
}

BatchInfo SentenceBatches::fill(int64_t step, int64_t chunk, const BatchSpans& to) {
  const auto [tokens, targets] = checked(step, chunk, to);
  const int64_t epoch = step / segments_;
  const bool follows = step_ >= epoch * segments_ && step_ <= step;
  if (!follows) begin_epoch(epoch);
  while (step_ < step) pour(step_ + 1 == step);
  const auto begin = static_cast<std::ptrdiff_t>(chunk * rows() * shape_.length);
  std::copy_n(tokens_.begin() + begin, tokens.size(), tokens.begin());
  std::copy_n(targets_.begin() + begin, targets.size(), targets.begin());
  const auto ignored = std::count(targets.begin(), targets.end(), kIgnored);
  return {epoch, step % segments_ == 0, static_cast<int64_t>(targets.size()) - ignored, counted_};
}

}  // namespace heed::data
