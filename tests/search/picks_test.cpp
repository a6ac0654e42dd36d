#include "heed/search/picks.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/base/philox.h"

namespace heed::search {
namespace {

TEST(Picks, BestKneeAndCheapest) {
  // The third is where the curve bends; the fifth is within 1% of the sixth, at half its latency.
  const std::vector<Point> models = {{10, 1, 5},  {20, 2, 5},    {70, 3, 5},
                                     {80, 20, 5}, {99.5, 40, 5}, {100, 80, 5}};
  const Picks picks = pick(models);
  EXPECT_EQ(picks.best, 5u);
  EXPECT_EQ(picks.knee, 2u);
  EXPECT_EQ(picks.cheap, 4u);
}

TEST(Picks, OneModelIsEverything) {
  const Picks picks = pick(std::vector<Point>{{10, 1, 5}});
  EXPECT_EQ(picks.best, 0u);
  EXPECT_EQ(picks.knee, 0u);
  EXPECT_EQ(picks.cheap, 0u);
}

// As those of a loss are.
TEST(Picks, ScoresMayBeBelowZero) {
  const Picks picks = pick(std::vector<Point>{{-3, 1, 1}, {-1.2, 2, 2}, {-1.005, 7, 4}, {-1, 10, 5}});
  EXPECT_EQ(picks.best, 3u);
  EXPECT_EQ(picks.cheap, 2u);
  EXPECT_EQ(picks.knee, 1u);
}

TEST(Picks, ASmallFrontierIsKeptWhole) {
  EXPECT_EQ(spread(std::vector<Point>{{3, 9, 1}, {1, 2, 3}, {2, 5, 2}}, 3), (std::vector<size_t>{1, 2, 0}));
}

TEST(Picks, SpreadHoldsTheEndsAndTheBestOfEachLevel) {
  Rng rng(3);
  std::vector<Point> frontier;
  for (int i = 0; i < 3000; ++i) {
    const double latency = std::pow(10, rng.uniform(-3, 0)), memory = std::pow(10, rng.uniform(6, 9));
    frontier.push_back({latency * memory, latency, memory});
  }
  const std::vector<size_t> kept = spread(frontier, 24);
  EXPECT_GE(kept.size(), 12u);
  EXPECT_LE(kept.size(), 25u);
  const auto has = [&](auto less) {
    const auto end = std::min_element(frontier.begin(), frontier.end(), less);
    return std::find(kept.begin(), kept.end(), static_cast<size_t>(end - frontier.begin())) != kept.end();
  };
  EXPECT_TRUE(has([](const Point& a, const Point& b) { return a.latency < b.latency; }));
  EXPECT_TRUE(has([](const Point& a, const Point& b) { return a.memory < b.memory; }));
  EXPECT_TRUE(has([](const Point& a, const Point& b) { return a.score > b.score; }));
  for (size_t i = 1; i < kept.size(); ++i)
    EXPECT_LE(frontier[kept[i - 1]].latency, frontier[kept[i]].latency);
}

}  // namespace
}  // namespace heed::search
