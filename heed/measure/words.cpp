#include "heed/measure/words.h"

#include <algorithm>
#include <cmath>

#include "heed/base/philox.h"

namespace heed::measure {

std::vector<int64_t> words_per_cluster(int64_t count, size_t clusters) {
  // The shares of its words beyond the cutoffs 19997, 39997 and 199997.
  constexpr double kTails[] = {0.026, 0.028, 0.0024};
  std::vector<int64_t> sizes(clusters, 0);
  sizes[0] = count;
  for (size_t i = 1; i < clusters && i <= std::size(kTails); ++i) {
    sizes[i] = std::lround(kTails[i - 1] * static_cast<double>(count));
    sizes[0] -= sizes[i];
  }
  return sizes;
}

void draw_words(std::span<int32_t> words, const std::vector<int64_t>& cluster_ends, uint64_t seed) {
  Rng rng(seed, 1);
  const std::vector<int64_t> sizes =
      words_per_cluster(static_cast<int64_t>(words.size()), cluster_ends.size());
  auto next = words.begin();
  int64_t begin = 0;
  for (size_t cluster = 0; cluster < sizes.size(); begin = cluster_ends[cluster++]) {
    std::vector<double> sums;  // of 1 / k
    for (int64_t word = begin; word < cluster_ends[cluster] && sizes[cluster] > 0; ++word)
      sums.push_back((sums.empty() ? 0 : sums.back()) + 1 / static_cast<double>(word + 1));
    for (int64_t i = 0; i < sizes[cluster]; ++i) {
      const auto found = std::lower_bound(sums.begin(), sums.end(), rng.uniform(0, sums.back()));
      *next++ = static_cast<int32_t>(begin + (found - sums.begin()));
    }
  }
  for (size_t i = words.size(); i > 1; --i)
    std::swap(words[i - 1], words[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
}

}  // namespace heed::measure
