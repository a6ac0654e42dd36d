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
  const int64_t groups = (d.n + kGroup - 1) / kGroup;
  parallel_range(groups, threads_for(0.7 * static_cast<double>(d.n)), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      for (int half = 0; half < 16; half += kLanes) {
        const UVec counters = (UVec)lane_numbers() + static_cast<uint32_t>(group * 16 + half);
        const RandomWords words = vphilox(counters, d.stream, word(2), word(3), word(0), word(1));
        for (int w = 0; w < 4; ++w) {
          const int64_t e = group * kGroup + w * 16 + half;
          if (e >= d.n) break;
          const int64_t lanes = smaller(kLanes, d.n - e);
          const Vec x = d.x ? load_at(d.x + e, lanes) : splat(1.f);
          store_at(d.y + e, select((IVec)(words.word[w] >= threshold), x * kept, splat(0.f)), lanes);
        }
      }
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
