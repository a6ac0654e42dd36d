#include "heed/kernels/softmax.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

constexpr int kUnroll = 4;  // independent maxima and sums, to hide latency
constexpr int64_t kStep = kUnroll * kLanes;
constexpr float kInfinity = __builtin_inff();

// Below this a probability (< 1e-30) counts as 0. Times a loss gradient it would be close to denormal
// numbers, on which the following products run many times slower.
constexpr float kLowest = -69.f;

HEED_INLINE Vec exp_of_negative(Vec x) { return select(x < kLowest, splat(0.f), exp_bounded(x)); }

// z = logits + bias. The bias is added again in each pass: cheaper than storing the sum.
template <bool with_bias>
HEED_INLINE Vec logits_at(const float* logits, const float* bias, int64_t j, int64_t lanes) {
  return with_bias ? load_at(logits + j, lanes) + load_at(bias + j, lanes) : load_at(logits + j, lanes);
}

template <bool with_bias>
HEED_INLINE float largest(const float* logits, const float* bias, int64_t columns) {
  Vec m[kUnroll];
  for (Vec& v : m) v = splat(-kInfinity);
  int64_t j = 0;
  for (; j + kStep <= columns; j += kStep) {
    for (int u = 0; u < kUnroll; ++u) {
      m[u] = vmax(m[u], logits_at<with_bias>(logits, bias, j + u * kLanes, kLanes));
    }
  }
  for (; j + kLanes <= columns; j += kLanes) m[0] = vmax(m[0], logits_at<with_bias>(logits, bias, j, kLanes));
  for (int u = 1; u < kUnroll; ++u) m[0] = vmax(m[0], m[u]);
  float result = maximum(m[0]);
  for (; j < columns; ++j) {
    const float z = with_bias ? logits[j] + bias[j] : logits[j];
    result = z > result ? z : result;
  }
  return result;
}

// sum_j exp(z[j] - max), each term stored in `terms` if wanted (which may be the logits).
template <bool with_bias, bool stored>
HEED_INLINE float sum_of_exponentials(const float* logits, const float* bias, int64_t columns, float max,
                                      float* terms) {
  Vec total[kUnroll] = {};
  int64_t j = 0;
  for (; j + kStep <= columns; j += kStep) {
    for (int u = 0; u < kUnroll; ++u) {
      const Vec e = exp_of_negative(logits_at<with_bias>(logits, bias, j + u * kLanes, kLanes) - max);
      if constexpr (stored) store(terms + j + u * kLanes, e);
      total[u] += e;
    }
  }
  for_vectors(columns - j, [&](int64_t i, int64_t lanes) {
    const Vec e = exp_of_negative(logits_at<with_bias>(logits, bias, j + i, lanes) - max);
    if constexpr (stored) store_at(terms + j + i, e, lanes);
    total[0] += select(lane_numbers() < static_cast<int32_t>(lanes), e, splat(0.f));
  });
  return sum((total[0] + total[1]) + (total[2] + total[3]));
}

// dz = softmax * d, from the exponentials that sum to d / factor; the -1 at the target is left to the caller.
template <bool summed>
HEED_INLINE void scale_row(float* row, int64_t columns, float factor, float* total) {
  for_vectors(columns, [&](int64_t j, int64_t lanes) {
    const Vec v = factor * load_at(row + j, lanes);
    store_at(row + j, v, lanes);
    if constexpr (summed) store_at(total + j, load_at(total + j, lanes) + v, lanes);
  });
}

template <bool with_bias>
HEED_INLINE void loss_row(const SoftmaxLossRows& a, int64_t row, float* total) {
  float* z = a.logits + row * a.leading;
  const int64_t target = a.targets[row];
  const float wanted = with_bias ? z[target] + a.bias[target] : z[target];
  const float max = largest<with_bias>(z, a.bias, a.columns);
  const float sum = a.dlosses ? sum_of_exponentials<with_bias, true>(z, a.bias, a.columns, max, z)
                              : sum_of_exponentials<with_bias, false>(z, a.bias, a.columns, max, nullptr);
  a.losses[row] = __builtin_logf(sum) + (max - wanted);
  if (!a.dlosses) return;
  const float d = a.dlosses[row];
  if (total) {
    scale_row<true>(z, a.columns, d / sum, total);
    total[target] -= d;
  } else {
    scale_row<false>(z, a.columns, d / sum, nullptr);
  }
  z[target] -= d;
}

template <bool with_bias>
HEED_INLINE void log_softmax_row(const LogSoftmaxRows& a, int64_t row) {
  float* z = a.x + row * a.leading;
  const float max = largest<with_bias>(z, a.bias, a.columns);
  float sum = sum_of_exponentials<with_bias, false>(z, a.bias, a.columns, max, nullptr);
  float log_sum = max + __builtin_logf(sum);
  if (a.outside) {  // log(e^a + e^b) from the larger of the two
    const float other = a.outside[row], top = other > log_sum ? other : log_sum;
    log_sum = top + __builtin_logf(__builtin_expf(log_sum - top) + __builtin_expf(other - top));
  }
  if (a.log_sums) a.log_sums[row] = log_sum;
  const float shift = (a.add ? a.add[row] : 0.f) - log_sum;
  for_vectors(a.columns, [&](int64_t j, int64_t lanes) {
    store_at(z + j, logits_at<with_bias>(z, a.bias, j, lanes) + shift, lanes);
  });
}

}  // namespace

void softmax_loss_rows(const SoftmaxLossRows& a) {
  const int64_t groups = softmax_groups(a.rows);
  const int threads = threads_for(0.5 * static_cast<double>(a.rows * a.columns));
  parallel_for(groups, threads, [&](int64_t group) {
    float* total = a.dbias && a.dlosses ? a.partial + group * a.columns : nullptr;
    if (total) __builtin_memset(total, 0, static_cast<size_t>(a.columns) * sizeof(float));
    for (int64_t row = a.rows * group / groups; row < a.rows * (group + 1) / groups; ++row) {
      a.bias ? loss_row<true>(a, row, total) : loss_row<false>(a, row, total);
    }
  });
  if (!a.dbias || !a.dlosses) return;
  parallel_range(a.columns, threads_for(2.0 * static_cast<double>(a.columns)),
                 [&](int64_t begin, int64_t end) {
                   for_vectors(end - begin, [&](int64_t i, int64_t lanes) {
                     Vec total = load_at(a.dbias + begin + i, lanes);
                     for (int64_t group = 0; group < groups; ++group)
                       total += load_at(a.partial + group * a.columns + begin + i, lanes);
                     store_at(a.dbias + begin + i, total, lanes);
                   });
                 });
}

void log_softmax_rows(const LogSoftmaxRows& a) {
  parallel_range(a.rows, threads_for(0.5 * static_cast<double>(a.rows * a.columns)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) {
                     a.bias ? log_softmax_row<true>(a, row) : log_softmax_row<false>(a, row);
                   }
                 });
}

}  // namespace heed::kernels::HEED_ISA
