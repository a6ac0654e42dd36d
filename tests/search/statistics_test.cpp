// Against definitions written out, and examples worked by hand.
#include "heed/search/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heed/base/philox.h"

namespace heed::search {
namespace {

std::vector<double> random(Rng& rng, size_t count, int64_t values) {
  std::vector<double> all(count);
  for (double& value : all) value = std::floor(rng.uniform(0, static_cast<double>(values)));
  return all;
}

TEST(Statistics, RanksShareTheMean) {
  EXPECT_EQ(ranks(std::vector<double>{30, 10, 20, 10, 10}), (std::vector<double>{5, 2, 4, 2, 2}));
  EXPECT_TRUE(ranks({}).empty());
}

TEST(Statistics, RankOfAValueIsHowManyAreBelow) {
  Rng rng(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const std::vector<double> values = random(rng, 20, 8), found = ranks(values);
    for (size_t i = 0; i < values.size(); ++i) {
      double below = 0, equal = 0;
      for (const double other : values) below += other < values[i], equal += other == values[i];
      EXPECT_EQ(found[i], below + 0.5 * (equal + 1));
    }
  }
}

TEST(Statistics, SpearmanOfKnownExamples) {
  // Without ties: 1 - 6 sum d^2 / (n (n^2 - 1)).
  EXPECT_NEAR(spearman(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{10, 30, 20, 50, 40}),
              1 - 6.0 * 4 / (5 * 24), 1e-15);
  EXPECT_EQ(spearman(std::vector<double>{1, 2, 3}, std::vector<double>{1, 8, 27}), 1);
  EXPECT_EQ(spearman(std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 1}), -1);
  EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1, 2}, std::vector<double>{5, 5})));
  EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1}, std::vector<double>{5})));
  EXPECT_TRUE(std::isnan(spearman({}, {})));
}

// For a mean the interval is 1.96 standard errors to each side.
TEST(Statistics, BootstrapOfAMean) {
  Rng rng(6);
  std::vector<double> values(400);
  for (double& value : values) value = rng.normal();
  const auto mean = [&](std::span<const size_t> drawn) {
    double sum = 0;
    for (const size_t i : drawn) sum += values[i];
    return sum / static_cast<double>(drawn.size());
  };
  std::vector<size_t> each(values.size());
  for (size_t i = 0; i < each.size(); ++i) each[i] = i;
  double squares = 0;
  for (const double value : values) squares += std::pow(value - mean(each), 2);
  const double half = 1.96 * std::sqrt(squares) / static_cast<double>(values.size());
  const Interval interval = bootstrap(values.size(), mean);
  EXPECT_NEAR(interval.low, mean(each) - half, 0.15 * half);
  EXPECT_NEAR(interval.high, mean(each) + half, 0.15 * half);
  EXPECT_TRUE(std::isnan(bootstrap(3, [](std::span<const size_t>) { return NAN; }).low));
}

TEST(Statistics, TheBestAreAShareByPerplexity) {
  const std::vector<double> perplexity = {30, 20, 50, 20, 40, 60, 70};
  EXPECT_EQ(best_by_perplexity(perplexity, 50), (std::vector<size_t>{1, 3, 0}));  // floor(3.5)
  EXPECT_EQ(best_by_perplexity(perplexity, 100).size(), 7u);
  EXPECT_TRUE(best_by_perplexity(perplexity, 10).empty());
  // Among the best three the score is the wrong way round, over all it is not.
  const std::vector<double> score = {9, 7, 5, 8, 6, 4, 3};
  // Ranks 1.5 1.5 3 and 1 2 3; then 3 1.5 5 1.5 4 6 7 and 7 5 3 6 4 2 1.
  EXPECT_NEAR(spearman_of_best(perplexity, score, 50), -1.5 / std::sqrt(1.5 * 2), 1e-15);
  EXPECT_NEAR(spearman_of_best(perplexity, score, 100), 24.5 / std::sqrt(27.5 * 28), 1e-15);
}

TEST(Statistics, CommonRatioCountsWhatBothFind) {
  const std::vector<double> perplexity = {10, 20, 30, 40}, score = {4, 1, 3, 2};
  EXPECT_EQ(common_ratio(perplexity, score, 25), 1);
  EXPECT_EQ(common_ratio(perplexity, score, 50), 0.5);
  EXPECT_EQ(common_ratio(perplexity, score, 100), 1);
  EXPECT_TRUE(std::isnan(common_ratio(perplexity, score, 10)));
  // Among equal scores the first in the table counts.
  EXPECT_EQ(common_ratio(perplexity, std::vector<double>{1, 1, 1, 1}, 50), 1);
}

TEST(Statistics, FrontierHoldsWhatNothingDominates) {
  Rng rng(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::vector<double> a = random(rng, 15, 6), b = random(rng, 15, 6);
    std::set<size_t> expected;
    for (size_t i = 0; i < a.size(); ++i) {
      bool dominated = false;
      for (size_t j = 0; j < a.size(); ++j)
        dominated |= a[j] <= a[i] && b[j] <= b[i] && (a[j] < a[i] || b[j] < b[i]);
      if (!dominated) expected.insert(i);
    }
    const std::vector<size_t> found = frontier(a, b);
    EXPECT_EQ(std::set<size_t>(found.begin(), found.end()), expected);
    EXPECT_EQ(found.size(), expected.size());
  }
}

TEST(Statistics, DistanceOfFrontiers) {
  const std::vector<double> latency = {1, 2, 3, 4}, perplexity = {40, 30, 33, 20};
  EXPECT_EQ(distance_of_frontiers(perplexity, std::vector<double>{1, 2, 1.5, 3}, latency), 0);
  // The score prefers the third to the second: its 33 stands against the 30 of the model nearest in latency.
  EXPECT_NEAR(distance_of_frontiers(perplexity, std::vector<double>{1, 0.5, 2, 3}, latency), 0.1 / 3, 1e-15);
}

}  // namespace
}  // namespace heed::search
