#include "heed/train/time_plan.h"

#include <gtest/gtest.h>

namespace heed::train {
namespace {

TEST(TimePlan, WithoutATimeAnUpdateIsAStep) {
  TimePlan plan(40, {}, "");
  EXPECT_EQ(plan.last(), 40);
  EXPECT_EQ(plan.position(7), 7);
  EXPECT_TRUE(plan.to_json().is_null());
  // Nor with more than enough.
  plan.decide(5, 1000);
  EXPECT_EQ(plan.last(), 40);
  EXPECT_EQ(plan.position(7), 7);
  EXPECT_TRUE(plan.to_json().is_null());
}

TEST(TimePlan, EndsWithTheTime) {
  TimePlan plan(1000, {}, "");
  plan.decide(10, 30.7);
  EXPECT_EQ(plan.last(), 40);
  EXPECT_EQ(plan.position(10), 10);
  EXPECT_EQ(plan.position(25), 505);
  EXPECT_EQ(plan.position(40), 1000);
  EXPECT_EQ(plan.position(50), 1000);
  // Updates became slower, then so fast that there is time for more.
  plan.decide(25, 5);
  EXPECT_EQ(plan.last(), 30);
  EXPECT_EQ(plan.position(25), 505);
  EXPECT_EQ(plan.position(26), 604);
  plan.decide(26, 1e9);
  EXPECT_EQ(plan.position(27), 605);
  EXPECT_EQ(plan.last(), 26 + 396);
  // No time is left, but for the update that ends it.
  plan.decide(27, -3);
  EXPECT_EQ(plan.last(), 28);
  EXPECT_EQ(plan.position(28), 1000);
}

TEST(TimePlan, GoesOnWithWhatWasDecided) {
  TimePlan plan(1000, {}, "");
  plan.decide(10, 90);
  plan.decide(20, 33);
  const TimePlan again(1000, plan.to_json(), "");
  for (int64_t step = 20; step < 60; ++step) EXPECT_EQ(again.position(step), plan.position(step));
  EXPECT_EQ(again.last(), plan.last());
  EXPECT_THROW(TimePlan(1000, {{"step", 5}, {"position", 5000}, {"pace", 1}}, "progress.json"), Error);
  EXPECT_THROW(TimePlan(1000, {{"step", 5}, {"position", 5}, {"pace", 0}}, "progress.json"), Error);
  EXPECT_THROW(TimePlan(1000, Json::array(), "progress.json"), Error);
}

}  // namespace
}  // namespace heed::train
