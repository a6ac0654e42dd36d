// Rows taken from and given back to tables by index: what embeddings, and softmaxes over some of the rows,
// are made of.
#pragma once

#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

// y[r] = scale * x[index[r]] + add[r % period], rows of `width`.
struct GatherRows {
  int64_t rows, width;
  const int32_t* index;
  float scale;
  const float* x;
  const float* add;  // [period, width] or null
  int64_t period;
  float* y;
};
HEED_KERNEL(gather_rows, GatherRows)

// y[index[r]] = scale * x[r], plus what is there if `accumulate`. An index may occur more than once:
// each thread owns some columns and walks all rows in order, so sums are the same for any number of threads.
struct ScatterRows {
  int64_t rows, width;
  const int32_t* index;
  float scale;
  const float* x;
  float* y;
  bool accumulate;
};
HEED_KERNEL(scatter_rows, ScatterRows)

// y[i] = sum over b of x[b, i], i below n.
struct BatchSum {
  int64_t batch, n;
  const float* x;
  float* y;
};
HEED_KERNEL(batch_sum, BatchSum)

// y = 0, n elements.
struct Clear {
  int64_t n;
  float* y;
};
HEED_KERNEL(clear, Clear)

}  // namespace heed::kernels
