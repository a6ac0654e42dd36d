#include "heed/infer/probabilities.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"

namespace heed::infer {

double log_normaliser(std::span<const float> scores) {
  HEED_ASSERT(!scores.empty());
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score) - largest);
  return largest + std::log(sum);
}

std::vector<TokenProbability> most_likely(std::span<const float> scores, int64_t count) {
  std::vector<int32_t> tokens(scores.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto score = [&](int32_t token) { return scores[static_cast<size_t>(token)]; };
  const auto last = tokens.begin() + std::min<std::ptrdiff_t>(count, std::ssize(tokens));
  std::partial_sort(tokens.begin(), last, tokens.end(), [&](int32_t a, int32_t b) {
    return score(a) > score(b) || (score(a) == score(b) && a < b);
  });
  const double normaliser = log_normaliser(scores);
  std::vector<TokenProbability> likely;
  for (auto token = tokens.begin(); token != last; ++token)
    likely.push_back({*token, score(*token) - normaliser});
  return likely;
}

}  // namespace heed::infer
