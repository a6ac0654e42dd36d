// Optimizer steps that keep two moments of the gradient (Adam, RAdam, LAMB) or one (SGD), and the norm of
// gradients.
//
// Those with two moments all update the weights by the same expression; they differ in a few numbers per
// step, which the caller computes in double (ops/optimizer.cpp).
#pragma once

#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

// How a gradient updates the moments:
//   g' = clip * g + l2 * w,  m = beta1 * m + new1 * g',  v = beta2 * v + new2 * g'^2
// Moments too small for a normal float become 0: m of a row that gets no gradient halves every 7 steps, and
// some CPUs take a hundred times as long for denormals.
struct Moments {
  float clip, l2;
  float beta1, new1;  // new1 = 1 - beta1, given because it is exact only when taken before rounding
  float beta2, new2;
};

// The change of a weight: a = rate * m / (root * sqrt(v) + epsilon) + decay * w. With root 0 and epsilon 1 it
// is rate * m.
struct Direction {
  float rate, root, epsilon;  // epsilon > 0
  float decay;
};

// Updates m and v, then w -= a. One pass over memory.
struct AdamStep {
  int64_t n;
  Moments moments;
  Direction direction;
  const float* g;
  float* w;
  float* m;
  float* v;
};
HEED_KERNEL(adam_step, AdamStep)

// g' = clip * g + l2 * w,  m = momentum * m + g',  w -= rate * m, or with nesterov w -= rate * (g' + momentum
// * m).
struct SgdStep {
  int64_t n;
  float clip, l2, momentum, rate;
  bool nesterov;
  const float* g;
  float* w;
  float* m;
};
HEED_KERNEL(sgd_step, SgdStep)

// LAMB needs |w| and |a| before it may change w, hence two passes: lamb_moments updates m and v and sums the
// squares; lamb_descend recomputes a and does w -= a. Recomputing it reads 8 bytes per weight; keeping it
// would move as many and need memory for all of it.
struct LambMoments {
  int64_t n;
  Moments moments;
  Direction direction;
  const float* g;
  const float* w;
  float* m;
  float* v;
  double* w_square;  // sum of w^2
  double* a_square;  // sum of a^2
  double* partial;   // 2 * square_partials(n)
};
HEED_KERNEL(lamb_moments, LambMoments)

struct LambDescend {
  int64_t n;
  Direction direction;
  const float* m;
  const float* v;
  float* w;
};
HEED_KERNEL(lamb_descend, LambDescend)

// *result = sum of x^2. NaN and infinities propagate.
struct SquareSum {
  int64_t n;
  const float* x;
  double* result;
  double* partial;  // square_partials(n)
};
HEED_KERNEL(square_sum, SquareSum)

// Everything is done in pieces of this many elements, sums in double between them: the same bytes for any
// number of threads.
inline constexpr int64_t kSquarePiece = 1 << 14;
inline int64_t square_partials(int64_t n) { return (n + kSquarePiece - 1) / kSquarePiece; }

}  // namespace heed::kernels
