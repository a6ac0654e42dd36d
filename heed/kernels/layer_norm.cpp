#include "heed/kernels/layer_norm.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

struct Statistics {
  float mean, scale;  // scale = 1 / sqrt(variance + epsilon)
};

// Two passes: subtracting the mean first keeps precision that E[x^2] - E[x]^2 would lose.
HEED_INLINE Statistics statistics(const float* x, int64_t width, float epsilon) {
  Vec total{};
  for_vectors(width, [&](int64_t i, int64_t lanes) { total += load_at(x + i, lanes); });
  const float mean = sum(total) / static_cast<float>(width);
  Vec square{};
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const Vec d = load(x + i) - mean;
    square += d * d;
  }
  float rest = 0;
  for (; i < width; ++i) rest += (x[i] - mean) * (x[i] - mean);
  const float variance = (sum(square) + rest) / static_cast<float>(width);
  return {mean, 1.f / __builtin_sqrtf(variance + epsilon)};
}

HEED_INLINE void backward_row(const LayerNormBackward& a, int64_t row, float* dgain, float* dbias) {
  const int64_t D = a.width;
  const float* x = a.x + row * D;
  const float* dy = a.dy + row * D;
  const Statistics s = statistics(x, D, a.epsilon);
  // dx = scale * (w - mean(w) - xhat * mean(w * xhat)), w = dy * gain
  Vec sum_w{}, sum_wx{};
  for_vectors(D, [&](int64_t i, int64_t lanes) {
    const Vec g = load_at(dy + i, lanes);  // lanes beyond the end are 0 and add nothing
    const Vec normalised = (load_at(x + i, lanes) - s.mean) * s.scale;
    const Vec w = g * load_at(a.gain + i, lanes);
    sum_w += w;
    sum_wx += w * normalised;
    store_at(dgain + i, load_at(dgain + i, lanes) + g * normalised, lanes);
    store_at(dbias + i, load_at(dbias + i, lanes) + g, lanes);
  });
  const float mean_w = sum(sum_w) / static_cast<float>(D), mean_wx = sum(sum_wx) / static_cast<float>(D);
  for_vectors(D, [&](int64_t i, int64_t lanes) {
    const Vec normalised = (load_at(x + i, lanes) - s.mean) * s.scale;
    Vec d = (load_at(dy + i, lanes) * load_at(a.gain + i, lanes) - mean_w - normalised * mean_wx) * s.scale;
    if (a.add) d += load_at(a.add + row * D + i, lanes);
    store_at(a.dx + row * D + i, d, lanes);
  });
}

}  // namespace

void layer_norm(const LayerNormForward& a) {
  const int64_t D = a.width;
  parallel_range(a.rows, threads_for(0.2 * static_cast<double>(a.rows * D)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = a.x + row * D;
      float* y = a.y + row * D;
      const Statistics s = statistics(x, D, a.epsilon);
      for_vectors(D, [&](int64_t i, int64_t lanes) {
        const Vec normalised = (load_at(x + i, lanes) - s.mean) * s.scale;
        store_at(y + i, normalised * load_at(a.gain + i, lanes) + load_at(a.bias + i, lanes), lanes);
      });
    }
  });
}

void layer_norm_backward(const LayerNormBackward& a) {
  const int64_t D = a.width, groups = layer_norm_partials(a.rows);
  parallel_for(groups, threads_for(0.5 * static_cast<double>(a.rows * D)), [&](int64_t group) {
    float* dgain = a.partial + group * 2 * D;
    float* dbias = dgain + D;
    for (int64_t i = 0; i < 2 * D; ++i) dgain[i] = 0;
    for (int64_t row = a.rows * group / groups; row < a.rows * (group + 1) / groups; ++row)
      backward_row(a, row, dgain, dbias);
  });
  for_vectors(D, [&](int64_t i, int64_t lanes) {
    Vec gain{}, bias{};
    for (int64_t group = 0; group < groups; ++group) {
      gain += load_at(a.partial + group * 2 * D + i, lanes);
      bias += load_at(a.partial + group * 2 * D + D + i, lanes);
    }
    store_at(a.dgain + i, gain, lanes);
    store_at(a.dbias + i, bias, lanes);
  });
}

}  // namespace heed::kernels::HEED_ISA
