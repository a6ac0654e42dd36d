// Static shapes: up to five dimensions, row-major, no strides.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace heed {

class Shape {
 public:
  static constexpr int kMaxRank = 5;
  static constexpr int64_t kMostElements = int64_t{1} << 44;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  // Negative indices count from the end: dim(-1) is the innermost.
  int64_t dim(int i) const { return dims_[i < 0 ? i + rank_ : i]; }
  int64_t elements() const;
  // The product of all dimensions but the last: how many rows the innermost vectors form.
  int64_t rows() const { return rank_ == 0 ? 1 : elements_before(rank_ - 1); }
  int64_t elements_before(int axis) const;
  int64_t elements_after(int axis) const;
  Shape with_dim(int i, int64_t size) const;

  bool operator==(const Shape& other) const = default;
  std::string str() const;  // "[4, 256, 768]"

 private:
  int rank_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
};

}  // namespace heed
