// Loops over elements: sums, products, scaling, weighted sums, and the reductions their gradients need.
#pragma once

#include <array>
#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

// y = a + b (or a * b), n elements; y may be a or b.
struct Binary {
  int64_t n;
  const float* a;
  const float* b;
  float* y;
};
HEED_KERNEL(add, Binary)
HEED_KERNEL(multiply, Binary)

// y = factor * (*by) * x, plus y if `accumulate`; by may be null (1). y may be x.
struct Scale {
  int64_t n;
  float factor;
  const float* by;
  const float* x;
  float* y;
  bool accumulate;
};
HEED_KERNEL(scale, Scale)

// y = sum_k weights[k] * xs[k], in one pass; of its gradient dx_k = weights[k] * dy, plus so_far[k] where
// that is not null. dx_k may be so_far[k].
inline constexpr size_t kMostMixed = 8;
struct Mix {
  int64_t n;
  size_t count;
  const float* weights;
  std::array<const float*, kMostMixed> xs;
  float* y;
};
HEED_KERNEL(mix, Mix)
struct MixGradient {
  int64_t n;
  size_t count;
  std::array<float, kMostMixed> weights;
  const float* dy;
  std::array<const float*, kMostMixed> so_far;
  std::array<float*, kMostMixed> dxs;
};
HEED_KERNEL(mix_gradient, MixGradient)

// *result = factor * sum a * b. Summed in pieces of fixed size, in double between them: the same for any
// number of threads.
struct Dot {
  int64_t n;
  float factor;
  const float* a;
  const float* b;
  float* result;
  double* partial;  // dot_partials(n)
};
HEED_KERNEL(dot, Dot)
inline constexpr int64_t kDotPiece = 1 << 16;
inline int64_t dot_partials(int64_t n) { return (n + kDotPiece - 1) / kDotPiece; }

// y[j] = sum over rows of x[row, j].
struct ColumnSum {
  int64_t rows, columns;
  const float* x;
  float* y;
  float* partial;  // column_sum_scratch(rows, columns) floats
};
HEED_KERNEL(column_sum, ColumnSum)
inline int64_t column_sum_groups(int64_t rows) { return rows < 64 ? 1 : 8; }
inline int64_t column_sum_scratch(int64_t rows, int64_t columns) { return column_sum_groups(rows) * columns; }

}  // namespace heed::kernels
