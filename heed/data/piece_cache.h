// The ids of pieces of text that occurred before: most of a text is a few words, again and again.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::data {

// Each piece has one slot, which holds the latest: frequent words are nearly always there, and the size is
// fixed. Long pieces and pieces of many tokens are rare and not kept.
class PieceCache {
 public:
  static constexpr size_t kLongestPiece = 15;
  static constexpr size_t kMostIds = 4;

  // The bytes of a piece of at most kLongestPiece, padded with zeros, and its length in the last byte.
  struct Key {
    uint64_t low = 0, high = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;                            // zero: empty
    std::array<int32_t, kMostIds> ids;  // -1 after the last
  };

  static Key key_of(std::string_view text, size_t begin, size_t length) {
    Key key;
    if (text.size() - begin >= sizeof key) {
      std::memcpy(&key, text.data() + begin, sizeof key);
      const size_t unused = 8 * (length <= 8 ? 8 - length : 16 - length);
      uint64_t& last = length <= 8 ? key.low : key.high;
      last = last << unused >> unused;
      if (length <= 8) key.high = 0;
    } else {
      std::memcpy(&key, text.data() + begin, length);
    }
    key.high |= static_cast<uint64_t>(length) << 56;
    return key;
  }

  Entry& place_of(const Key& key) {
    const uint64_t mixed = (key.low ^ key.high * 0xD6E8FEB86659FD93u) * 0x9E3779B97F4A7C15u;
    return entries_[mixed >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 16;
  std::vector<Entry> entries_ = std::vector<Entry>(size_t{1} << kBits);
};

// One cache per encoding thread, reused by the next ones.
class PieceCaches {
 public:
  class Borrowed {
   public:
    Borrowed(const PieceCaches& from, std::unique_ptr<PieceCache> cache)
        : from_(from), cache_(std::move(cache)) {}
    ~Borrowed() { from_.take_back(std::move(cache_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    PieceCache* operator->() const { return cache_.get(); }

   private:
    const PieceCaches& from_;
    std::unique_ptr<PieceCache> cache_;
  };

  Borrowed borrow() const {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto cache = std::move(free_.back());
        free_.pop_back();
        return {*this, std::move(cache)};
      }
    }
    return {*this, std::make_unique<PieceCache>()};
  }

 private:
  void take_back(std::unique_ptr<PieceCache> cache) const {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(cache));
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<PieceCache>> free_;
};

}  // namespace heed::data
