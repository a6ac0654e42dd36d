// Layer norm over rows of `width`: y = (x - mean) / sqrt(variance + epsilon) * gain + bias, biased variance.
#pragma once

#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

struct LayerNormForward {
  int64_t rows, width;
  float epsilon;
  const float* x;
  const float* gain;
  const float* bias;
  float* y;  // may be x
};
HEED_KERNEL(layer_norm, LayerNormForward)

// Statistics are recomputed from x: one more pass over a row in L1 instead of two numbers kept per row.
struct LayerNormBackward {
  int64_t rows, width;
  float epsilon;
  const float* x;
  const float* gain;
  const float* dy;
  const float* add;  // added to dx, or null
  float* dx;         // may be dy or add
  float* dgain;
  float* dbias;
  float* partial;  // layer_norm_partials(rows) * 2 * width floats
};
HEED_KERNEL(layer_norm_backward, LayerNormBackward)

// Rows are summed into dgain and dbias in this many groups, whatever the number of threads, so that the bytes
// are the same.
inline int64_t layer_norm_partials(int64_t rows) { return rows < 16 ? 1 : rows < 256 ? 4 : 16; }

}  // namespace heed::kernels
