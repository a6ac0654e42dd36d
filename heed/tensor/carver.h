// Divides a block of memory into arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "heed/base/error.h"
#include "heed/tensor/buffer.h"

namespace heed {

// Without memory it only counts. The same code then gives the size and the layout, so
// that the plan and the run cannot disagree.
class Carver {
 public:
  Carver() = default;
  explicit Carver(std::span<std::byte> memory)
      : memory_(memory.data()), room_(static_cast<int64_t>(memory.size())) {}

  // An array of its own cache lines; null while counting.
  template <class T>
  T* take(int64_t count) {
    const int64_t at = place<T>(count);
    return memory_ ? reinterpret_cast<T*>(memory_) + at : nullptr;
  }
  // The same as a distance from the beginning, for layouts that several workers have a copy of.
  template <class T>
  int64_t place(int64_t count) {
    HEED_ASSERT(fits<T>(count));
    const int64_t at = bytes_;
    bytes_ += align_up(count * static_cast<int64_t>(sizeof(T)));
    return at / static_cast<int64_t>(sizeof(T));
  }
  template <class T>
  bool fits(int64_t count) const {
    return bytes_ + align_up(count * static_cast<int64_t>(sizeof(T))) <= room_;
  }
  int64_t bytes() const { return bytes_; }  // taken so far

 private:
  std::byte* memory_ = nullptr;
  int64_t room_ = std::numeric_limits<int64_t>::max();
  int64_t bytes_ = 0;
};

}  // namespace heed
