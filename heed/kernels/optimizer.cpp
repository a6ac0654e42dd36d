#include "heed/kernels/optimizer.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

// body(piece, begin, count) for all pieces. Pieces start at multiples of kLanes, so an element is in the same
// lane of the same code whatever the number of threads.
template <class Body>
HEED_INLINE void for_pieces(int64_t n, double nanoseconds_each, const Body& body) {
  static_assert(kSquarePiece % kLanes == 0);
  parallel_for(square_partials(n), threads_for(nanoseconds_each * static_cast<double>(n)),
               [&](int64_t piece) {
                 const int64_t begin = piece * kSquarePiece;
                 body(piece, begin, smaller(kSquarePiece, n - begin));
               });
}

HEED_INLINE Vec without_subnormals(Vec x) {
  const Vec magnitude = (Vec)((IVec)x & 0x7fffffff);
  return select(magnitude < __FLT_MIN__, splat(0.f), x);  // NaN compares false and stays
}

struct State {
  Vec w, m, v;
};

// Loads w, m, v at i, adds the gradient and stores the moments.
HEED_INLINE State update(const Moments& c, const float* g, const float* w, float* m, float* v, int64_t i,
                         int64_t lanes) {
  State s{load_at(w + i, lanes), load_at(m + i, lanes), load_at(v + i, lanes)};
  const Vec gradient = c.clip * load_at(g + i, lanes) + c.l2 * s.w;
  s.m = without_subnormals(c.beta1 * s.m + c.new1 * gradient);
  s.v = without_subnormals(c.beta2 * s.v + c.new2 * gradient * gradient);
  store_at(m + i, s.m, lanes);
  store_at(v + i, s.v, lanes);
  return s;
}

// In lanes beyond the end all of w, m, v are 0, and so is the result. Decay is part of it because (1 - decay)
// * w would round the decay itself, the same way in every step: 1 - 1e-7 in float is off by a fifth of it.
HEED_INLINE Vec change(const Direction& d, const State& s) {
  return d.rate * s.m / (d.root * vsqrt(s.v) + d.epsilon) + d.decay * s.w;
}

HEED_INLINE double total(const double* partial, int64_t count, int64_t stride) {
  double sum_of_pieces = 0;
  for (int64_t i = 0; i < count; ++i) sum_of_pieces += partial[i * stride];
  return sum_of_pieces;
}

}  // namespace

void adam_step(const AdamStep& a) {
  for_pieces(a.n, 1.0, [&](int64_t, int64_t begin, int64_t count) {
    for_vectors(count, [&](int64_t i, int64_t lanes) {
      const State s = update(a.moments, a.g, a.w, a.m, a.v, begin + i, lanes);
      store_at(a.w + begin + i, s.w - change(a.direction, s), lanes);
    });
  });
}

void sgd_step(const SgdStep& a) {
  for_pieces(a.n, 0.7, [&](int64_t, int64_t begin, int64_t count) {
    for_vectors(count, [&](int64_t i, int64_t lanes) {
      const int64_t at = begin + i;
      const Vec w = load_at(a.w + at, lanes), g = a.clip * load_at(a.g + at, lanes) + a.l2 * w;
      const Vec m = without_subnormals(a.momentum * load_at(a.m + at, lanes) + g);
      store_at(a.m + at, m, lanes);
      store_at(a.w + at, w - a.rate * (a.nesterov ? g + a.momentum * m : m), lanes);
    });
  });
}

void lamb_moments(const LambMoments& a) {
  for_pieces(a.n, 1.0, [&](int64_t piece, int64_t begin, int64_t count) {
    Vec w_square{}, a_square{};
    for_vectors(count, [&](int64_t i, int64_t lanes) {
      const State s = update(a.moments, a.g, a.w, a.m, a.v, begin + i, lanes);
      const Vec step = change(a.direction, s);
      w_square += s.w * s.w;
      a_square += step * step;
    });
    a.partial[2 * piece] = static_cast<double>(sum(w_square));
    a.partial[2 * piece + 1] = static_cast<double>(sum(a_square));
  });
  *a.w_square = total(a.partial, square_partials(a.n), 2);
  *a.a_square = total(a.partial + 1, square_partials(a.n), 2);
}

void lamb_descend(const LambDescend& a) {
  for_pieces(a.n, 0.8, [&](int64_t, int64_t begin, int64_t count) {
    for_vectors(count, [&](int64_t i, int64_t lanes) {
      const int64_t at = begin + i;
      const State s{load_at(a.w + at, lanes), load_at(a.m + at, lanes), load_at(a.v + at, lanes)};
      store_at(a.w + at, s.w - change(a.direction, s), lanes);
    });
  });
}

void square_sum(const SquareSum& a) {
  for_pieces(a.n, 0.15, [&](int64_t piece, int64_t begin, int64_t count) {
    const float* x = a.x + begin;
    // Four sums at once: the chain of additions would otherwise be slower than the cache.
    Vec square[4] = {};
    int64_t i = 0;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
      for (int part = 0; part < 4; ++part) {
        const Vec value = load(x + i + part * kLanes);
        square[part] += value * value;
      }
    }
    for_vectors(count - i, [&](int64_t rest, int64_t lanes) {
      const Vec value = load_at(x + i + rest, lanes);
      square[0] += value * value;
    });
    a.partial[piece] = static_cast<double>(sum(square[0] + square[1] + (square[2] + square[3])));
  });
  *a.result = total(a.partial, square_partials(a.n), 1);
}

}  // namespace heed::kernels::HEED_ISA
