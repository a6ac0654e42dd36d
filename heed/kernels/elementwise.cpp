#include "heed/kernels/elementwise.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

// body(i, lanes) for all elements, shared among threads when there are many.
template <class Body>
HEED_INLINE void for_elements(int64_t n, const Body& body) {
  parallel_range(n, threads_for(0.15 * static_cast<double>(n)), [&](int64_t begin, int64_t end) {
    for_vectors(end - begin, [&](int64_t i, int64_t lanes) { body(begin + i, lanes); });
  });
}

}  // namespace

void add(const Binary& b) {
  for_elements(b.n, [&](int64_t i, int64_t lanes) {
    store_at(b.y + i, load_at(b.a + i, lanes) + load_at(b.b + i, lanes), lanes);
  });
}

void multiply(const Binary& b) {
  for_elements(b.n, [&](int64_t i, int64_t lanes) {
    store_at(b.y + i, load_at(b.a + i, lanes) * load_at(b.b + i, lanes), lanes);
  });
}

void scale(const Scale& s) {
  const float factor = s.factor * (s.by ? *s.by : 1.f);
  for_elements(s.n, [&](int64_t i, int64_t lanes) {
    Vec v = factor * load_at(s.x + i, lanes);
    if (s.accumulate) v += load_at(s.y + i, lanes);
    store_at(s.y + i, v, lanes);
  });
}

void mix(const Mix& m) {
  for_elements(m.n, [&](int64_t i, int64_t lanes) {
    Vec v{};
    for (size_t k = 0; k < m.count; ++k) v += m.weights[k] * load_at(m.xs[k] + i, lanes);
    store_at(m.y + i, v, lanes);
  });
}

void mix_gradient(const MixGradient& m) {
  for_elements(m.n, [&](int64_t i, int64_t lanes) {
    const Vec dy = load_at(m.dy + i, lanes);
    for (size_t k = 0; k < m.count; ++k) {
      Vec v = m.weights[k] * dy;
      if (m.so_far[k]) v += load_at(m.so_far[k] + i, lanes);
      store_at(m.dxs[k] + i, v, lanes);
    }
  });
}

void dot(const Dot& d) {
  const int64_t pieces = dot_partials(d.n);
  parallel_for(pieces, threads_for(0.15 * static_cast<double>(d.n)), [&](int64_t piece) {
    const int64_t begin = piece * kDotPiece, end = smaller(d.n, begin + kDotPiece);
    Vec total{};
    for_vectors(end - begin, [&](int64_t i, int64_t lanes) {
      total += load_at(d.a + begin + i, lanes) * load_at(d.b + begin + i, lanes);
    });
    d.partial[piece] = static_cast<double>(sum(total));
  });
  double total = 0;
  for (int64_t piece = 0; piece < pieces; ++piece) total += d.partial[piece];
  *d.result = d.factor * static_cast<float>(total);
}

void column_sum(const ColumnSum& c) {
  const int64_t groups = column_sum_groups(c.rows);
  parallel_for(groups, threads_for(0.15 * static_cast<double>(c.rows * c.columns)), [&](int64_t group) {
    float* total = c.partial + group * c.columns;
    for (int64_t j = 0; j < c.columns; ++j) total[j] = 0;
    for (int64_t row = c.rows * group / groups; row < c.rows * (group + 1) / groups; ++row) {
      const float* x = c.x + row * c.columns;
      for_vectors(c.columns, [&](int64_t j, int64_t lanes) {
        store_at(total + j, load_at(total + j, lanes) + load_at(x + j, lanes), lanes);
      });
    }
  });
  for_vectors(c.columns, [&](int64_t j, int64_t lanes) {
    Vec total{};
    for (int64_t group = 0; group < groups; ++group)
      total += load_at(c.partial + group * c.columns + j, lanes);
    store_at(c.y + j, total, lanes);
  });
}

}  // namespace heed::kernels::HEED_ISA
