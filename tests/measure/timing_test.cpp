// Rounds of timings: what they say together, and when they say enough.
#include "heed/measure/timing.h"

#include <gtest/gtest.h>

#include "heed/measure/yardstick.h"

namespace heed::measure {
namespace {

Timing round_of(double median) { return {median, 0.9 * median, 1.1 * median, 5}; }

TEST(Timing, OneBusyRoundDoesNotCount) {
  const Timing all = combine({round_of(1), round_of(3), round_of(1.02)});
  EXPECT_EQ(all.median, 1.02);
  EXPECT_DOUBLE_EQ(all.low, 0.9);
  EXPECT_DOUBLE_EQ(all.high, 3.3);
  EXPECT_EQ(all.runs, 15);
  EXPECT_DOUBLE_EQ(all.held(), 1.02);  // one round was disturbed
  EXPECT_DOUBLE_EQ(combine({round_of(1), round_of(1.02), round_of(1.09)}).held(), 1.09);
  EXPECT_EQ(combine({round_of(1), round_of(2)}).median, 1.5);
  EXPECT_EQ(combine({}).runs, 0);
}

TEST(Timing, RoundsAreSettledWhenTheMiddleIsNearTheFastest) {
  EXPECT_FALSE(settled({}));
  EXPECT_FALSE(settled({round_of(1), round_of(1)}));
  EXPECT_TRUE(settled({round_of(1), round_of(3), round_of(1.08)}));
  EXPECT_FALSE(settled({round_of(1), round_of(3), round_of(1.15)}));
  EXPECT_TRUE(settled({round_of(1), round_of(3), round_of(1.15), round_of(0.99)}));
  EXPECT_TRUE(settled({round_of(1), round_of(2), round_of(3), round_of(4), round_of(5)}));
}

Timing round_at(double median, double yardstick) {
  return {median, 0.9 * median, 1.1 * median, 5, yardstick};
}

// The machine was slower by half, and its yardstick says so.
TEST(Timing, RoundsAreComparedByTheYardstick) {
  EXPECT_DOUBLE_EQ(scaled(round_at(3, 0.3), 0.2).median, 2);
  EXPECT_DOUBLE_EQ(scaled(round_at(3, 0.3), 0.2).high, 2.2);
  EXPECT_DOUBLE_EQ(scaled(round_at(3, 0), 0.2).median, 3);  // not known
  EXPECT_DOUBLE_EQ(scaled(round_at(3, 0.3), 0).median, 3);
  // A drift of 8% is scaled away; what happened while another program ran is left out.
  const std::vector<Timing> rounds = {round_at(1, 0.2), round_at(1.08, 0.216), round_at(1.9, 0.3)};
  EXPECT_DOUBLE_EQ(combine(rounds).median, 1);
  EXPECT_EQ(combine(rounds).runs, 10);
  EXPECT_DOUBLE_EQ(combine(rounds, 0.22).median, 1.1);
  EXPECT_TRUE(settled(rounds));
  EXPECT_FALSE(settled({round_at(1, 0.2), round_at(1, 0.3), round_at(1, 0.3)}));
}

TEST(Yardstick, RunsBesideAnotherProgramAreLeftOut) {
  EXPECT_EQ(undisturbed({1, 1.05, 1, 2, 1, 1.02}), (std::vector<size_t>{0, 1, 4}));
  EXPECT_EQ(undisturbed({2, 2}), (std::vector<size_t>{0}));
  EXPECT_TRUE(undisturbed({1}).empty());
  EXPECT_EQ(undisturbed({1, 1, 2, 3, 4}, 3), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(undisturbed({1, 1, 2}, 3), (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(undisturbed({1}, 3).empty());
}

TEST(Yardstick, SectionsAreTimedWithIt) {
  Yardstick yardstick;
  EXPECT_GT(yardstick.seconds(), 0);
  int runs = 0;
  const auto run = [&] { return std::vector<double>{1.0, static_cast<double>(++runs)}; };
  const std::vector<Timing> timings = time_sections(yardstick, run, {4, 4, 0});
  EXPECT_EQ(runs, 4);
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_EQ(timings[0].median, 1);
  EXPECT_GE(timings[1].median, 1);
  EXPECT_LE(timings[1].high, 4);
  EXPECT_GT(timings[0].yardstick, 0);
  time_sections(yardstick, run, {1, 3, 1e9});
  EXPECT_EQ(runs, 7);
}

// The second of three things is disturbed in its first two rounds.
TEST(Timing, WhatIsDisturbedHasMoreTurns) {
  std::vector<size_t> order;
  std::vector<std::pair<size_t, size_t>> reports;
  const auto time_one = [&](size_t which, int64_t round) {
    order.push_back(which);
    return round_of(which == 1 && round < 2 ? 2 : 1);
  };
  const auto timings =
      time_interleaved(3, time_one, [&](size_t done, size_t all) { reports.emplace_back(done, all); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 1}));
  ASSERT_EQ(timings.size(), 3u);
  for (const Timing& timing : timings) EXPECT_EQ(timing.median, 1);
  EXPECT_EQ(timings[1].runs, 25);
  EXPECT_EQ(reports.front(), (std::pair<size_t, size_t>{1, 9}));
  EXPECT_EQ(reports.back(), (std::pair<size_t, size_t>{11, 11}));
}

}  // namespace
}  // namespace heed::measure
