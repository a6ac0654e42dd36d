// Text as a stream of tokens, and batches of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed::data {

// A text file, one token per byte. The last `valid_share` of it is kept for validation.
class ByteCorpus {
 public:
  explicit ByteCorpus(const std::string& path, double valid_share = 0.05);
  std::span<const uint8_t> train() const { return std::span(bytes_).first(train_); }
  std::span<const uint8_t> valid() const { return std::span(bytes_).subspan(train_); }

 private:
  std::vector<uint8_t> bytes_;
  size_t train_ = 0;
};

// Cuts a stream into `sequences` equal rows and walks them side by side, `length` tokens at a time; target =
// next token. At the end of the rows it begins anew.
class StreamBatches {
 public:
  // `what` names the stream in messages.
  StreamBatches(std::span<const uint8_t> stream, int64_t sequences, int64_t length, const std::string& what);
  int64_t batches() const { return batches_; }  // per pass
  void fill(int64_t batch, std::span<int32_t> tokens, std::span<int32_t> targets) const;

 private:
  std::span<const uint8_t> stream_;
  int64_t sequences_, length_, row_, batches_;
};

}  // namespace heed::data
