#include "heed/kernels/dropout.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

inline constexpr int64_t kGroup = 64;  // elements that share 16 counters

}  // namespace

void dropout(const Dropout& d) {
  const auto threshold = static_cast<uint32_t>(static_cast<double>(d.rate) * 4294967296.0);
  const Vec kept = splat(1.f / (1.f - d.rate));
  const auto word = [&](int i) { return static_cast<uint32_t>(d.rng[i]); };
  const auto drop_group = [&](int64_t group, const float* x, float* y) {
    for (int half = 0; half < 16; half += kLanes) {
      const UVec counters = (UVec)lane_numbers() + static_cast<uint32_t>(group * 16 + half);
      const RandomWords words = vphilox(counters, d.stream, word(2), word(3), word(0), word(1));
      for (int w = 0; w < 4; ++w) {
        const int64_t e = w * 16 + half;
        const Vec value = x ? load(x + e) : splat(1.f);
        store(y + e, select((IVec)(words.word[w] >= threshold), value * kept, splat(0.f)));
      }
    }
  };
  const int64_t last = d.first + d.n, first_group = d.first / kGroup;
  const int64_t groups = (last + kGroup - 1) / kGroup - first_group;
  parallel_range(groups, threads_for(0.7 * static_cast<double>(d.n)), [&](int64_t from, int64_t to) {
    for (int64_t group = first_group + from; group < first_group + to; ++group) {
      const int64_t begin = larger(group * kGroup, d.first), end = smaller((group + 1) * kGroup, last);
      const float* const x = d.x ? d.x + (begin - d.first) : nullptr;
      float* const y = d.y + (begin - d.first);
      if (end - begin == kGroup) {
        drop_group(group, x, y);
        continue;
      }
      // Only a part of this group is needed: it is made in a copy.
      float copy[kGroup] = {};
      float* const part = copy + (begin - group * kGroup);
      for (int64_t i = 0; i < end - begin; ++i) part[i] = x ? x[i] : 1.f;
      drop_group(group, copy, copy);
      for (int64_t i = 0; i < end - begin; ++i) y[i] = part[i];
    }
  });
}

void variational_dropout(const VariationalDropout& d) {
  HEED_ISA::dropout(Dropout{d.B * d.D, d.rate, d.stream, d.rng, nullptr, d.mask});
  parallel_range(d.B * d.T, threads_for(0.15 * static_cast<double>(d.B * d.T * d.D)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) {
                     const float* mask = d.mask + row / d.T * d.D;
                     for_vectors(d.D, [&](int64_t i, int64_t lanes) {
                       store_at(d.y + row * d.D + i,
                                load_at(d.x + row * d.D + i, lanes) * load_at(mask + i, lanes), lanes);
                     });
                   }
                 });
}

}  // namespace heed::kernels::HEED_ISA
