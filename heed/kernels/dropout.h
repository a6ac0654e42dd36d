// Random masks from a counter-based generator: nothing is stored, any thread can compute any element at any
// time.
//
// Element e of a stream reads word (e / 16) % 4 of Philox4x32-10 at counter {e / 64 * 16 + e % 16, stream,
// step}, so that 64 consecutive elements use 16 consecutive counters and no word is wasted. It is
// kept if the word is at least rate * 2^32, and scaled by 1 / (1 - rate).
#pragma once

#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

// y[i] = x[i] * factor(first + i), i < n. y may be x; x null stands for ones.
struct Dropout {
  int64_t n;
  float rate;
  uint32_t stream;
  const int32_t* rng;  // seed and step, i32[4]
  const float* x;
  float* y;
  int64_t first = 0;  // the same element has the same factor however the whole is split
};
HEED_KERNEL(dropout, Dropout)

// x, y: [B, T, D], one mask [B, D] for all positions.
struct VariationalDropout {
  int64_t B, T, D;
  float rate;
  uint32_t stream;
  const int32_t* rng;
  const float* x;
  float* y;
  float* mask;  // [B, D], scratch
};
HEED_KERNEL(variational_dropout, VariationalDropout)

}  // namespace heed::kernels
