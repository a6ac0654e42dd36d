#include "heed/data/corpus.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "heed/base/error.h"

namespace heed::data {

ByteCorpus::ByteCorpus(const std::string& path, double valid_share) {
  if (std::filesystem::is_directory(path))
    throw usage_error("data: '", path, "' is a folder; give a text file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error("data: cannot read '", path, "': ", std::strerror(errno));
  bytes_.assign(std::istreambuf_iterator<char>(file), {});
  if (bytes_.size() < 2)
    throw usage_error("data: '", path, "' holds ", bytes_.size(),
                      " bytes; at least 2 are needed to predict one from another");
  train_ = bytes_.size() - static_cast<size_t>(static_cast<double>(bytes_.size()) * valid_share);
}

StreamBatches::StreamBatches(std::span<const uint8_t> stream, int64_t sequences, int64_t length,
                             const std::string& what)
    : stream_(stream),
      sequences_(sequences),
      length_(length),
      row_(static_cast<int64_t>(stream.size()) / sequences),
      batches_((row_ - 1) / length) {
  if (batches_ < 1) {
    throw usage_error("data: ", what, " has ", stream.size(), " tokens, too few for a batch of ", sequences,
                      " x ", length, "; at least ", sequences * (length + 1), " are needed");
  }
}

void StreamBatches::fill(int64_t batch, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  const int64_t at = batch % batches_ * length_;
  for (int64_t s = 0; s < sequences_; ++s) {
    for (int64_t t = 0; t < length_; ++t) {
      tokens[static_cast<size_t>(s * length_ + t)] = stream_[static_cast<size_t>(s * row_ + at + t)];
      targets[static_cast<size_t>(s * length_ + t)] = stream_[static_cast<size_t>(s * row_ + at + t + 1)];
    }
  }
}

}  // namespace heed::data
