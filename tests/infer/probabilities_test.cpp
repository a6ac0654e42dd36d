#include "heed/infer/probabilities.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed::infer {
namespace {

TEST(Probabilities, AreThoseOfASoftmax) {
  const std::vector<float> scores = {1, 3, -2, 3, 0};
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score));
  EXPECT_NEAR(log_normaliser(scores), std::log(sum), 1e-12);
  const auto likely = most_likely(scores, 3);
  ASSERT_EQ(likely.size(), 3u);
  const int32_t expected[] = {1, 3, 0};  // of equals, the lower id first
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(likely[i].token, expected[i]);
    EXPECT_NEAR(likely[i].log_probability, scores[static_cast<size_t>(expected[i])] - std::log(sum), 1e-12);
  }
  double all = 0;
  for (const TokenProbability& each : most_likely(scores, 100)) all += std::exp(each.log_probability);
  EXPECT_NEAR(all, 1, 1e-12);
}

// exp() of them overflows, or is 0.
TEST(Probabilities, OfLargeScores) {
  const std::vector<float> high = {2048, 2048}, low = {-2048, -2048};
  EXPECT_NEAR(most_likely(high, 1)[0].log_probability, -std::log(2), 1e-12);
  EXPECT_NEAR(most_likely(low, 1)[0].log_probability, -std::log(2), 1e-12);
}

}  // namespace
}  // namespace heed::infer
