#include "heed/train/schedules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace heed {
namespace {

using train::learning_rate_at;

// Transformer-XL base as NVIDIA trains it.
spec::TrainingSpec transformer_xl() {
  spec::TrainingSpec spec;
  spec.schedule = "cosine";
  spec.learning_rate = 0.01, spec.final_rate = 0.001;
  spec.warmup = 1000, spec.steps = 40000;
  return spec;
}

TEST(Schedules, CosineAfterTheWarmUp) {
  const spec::TrainingSpec spec = transformer_xl();
  EXPECT_NEAR(learning_rate_at(spec, 1), 0.00001, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 500), 0.005, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 999), 0.00999, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 1000), 0.01, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 20500), 0.0055, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 36000), 0.0012316, 5e-8);
  EXPECT_NEAR(learning_rate_at(spec, 40000), 0.001, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 50000), 0.001, 1e-12);
}

// The rate is set after each update, so the first runs at the full one and update t + 1 at rate(t).
TEST(Schedules, RateSetLate) {
  spec::TrainingSpec late = transformer_xl();
  late.late_rate = true;
  EXPECT_EQ(learning_rate_at(late, 1), 0.01);
  EXPECT_NEAR(learning_rate_at(late, 2), 0.00001, 1e-12);
  for (const int64_t t : {1, 2, 500, 999, 1000, 1001, 20500, 36000, 39999})
    EXPECT_EQ(learning_rate_at(late, t + 1), learning_rate_at(transformer_xl(), t)) << t;
}

// The authors of Transformer-XL count the cosine from step 0: the rate jumps at the end of the warm-up.
TEST(Schedules, CosineFromTheStart) {
  spec::TrainingSpec spec = transformer_xl();
  spec.decay_from = DecayFrom::kStart;
  spec.final_rate = 0;
  EXPECT_NEAR(learning_rate_at(spec, 500), 0.005, 1e-12);
  for (const int64_t t : {1000, 1001, 10000, 20000, 39999, 40000}) {
    const double expected = 0.005 * (1 + std::cos(std::numbers::pi * static_cast<double>(t) / 40000));
    EXPECT_NEAR(learning_rate_at(spec, t), expected, 1e-12) << t;
  }
  EXPECT_NEAR(learning_rate_at(spec, 20000), 0.005, 1e-12);
}

// PyTorch's cosine in its chained form: each rate is made from the one before, wherever that came from.
TEST(Schedules, CosineChainedToTheWarmUp) {
  for (const bool from_zero : {false, true}) {
    for (const int64_t warmup : {0, 1, 16}) {
      spec::TrainingSpec spec;
      spec.learning_rate = 3e-4;
      spec.warmup = warmup, spec.steps = 400;
      spec.warmup_from_zero = from_zero;
      spec.decay_from = DecayFrom::kChained;
      const auto factor = [&](int64_t n) {
        return 1 + std::cos(std::numbers::pi * static_cast<double>(n) / 400);
      };
      double rate = spec.learning_rate;
      for (int64_t n = 0; n < spec.steps; ++n) {  // updates, from 0
        if (n < warmup) {
          rate =
              spec.learning_rate * static_cast<double>(from_zero ? n : n + 1) / static_cast<double>(warmup);
        } else if (n > 0) {
          rate *= factor(n) / factor(n - 1);
        }
        ASSERT_NEAR(learning_rate_at(spec, n + 1), rate, 1e-12)
            << "update " << n << ", warm-up " << warmup << (from_zero ? " from 0" : "");
      }
    }
  }
}

TEST(Schedules, LinearInverseSquareRootAndConstant) {
  spec::TrainingSpec spec;
  spec.learning_rate = 0.8, spec.final_rate = 0.2, spec.warmup = 10, spec.steps = 40;
  spec.schedule = "linear";
  EXPECT_NEAR(learning_rate_at(spec, 5), 0.4, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 10), 0.8, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 25), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 40), 0.2, 1e-12);
  spec.schedule = "constant";
  EXPECT_NEAR(learning_rate_at(spec, 1), 0.08, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 40), 0.8, 1e-12);
  spec.schedule = "inverse-square-root";
  spec.final_rate = 0;
  EXPECT_NEAR(learning_rate_at(spec, 5), 0.4, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 10), 0.8, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 40), 0.4, 1e-12);
  EXPECT_NEAR(learning_rate_at(spec, 1000), 0.08, 1e-12);
  spec.schedule = "lineer";
  EXPECT_THROW(learning_rate_at(spec, 1), Error);
}

TEST(Schedules, WarmUpFromZero) {
  spec::TrainingSpec spec;
  spec.learning_rate = 1, spec.warmup = 4, spec.steps = 10, spec.schedule = "constant";
  spec.warmup_from_zero = true;
  const double expected[] = {0, 0.25, 0.5, 0.75, 1, 1};
  for (int64_t step = 1; step <= 6; ++step)
    EXPECT_NEAR(learning_rate_at(spec, step), expected[step - 1], 1e-12) << step;
}

// Every entry, with every way to count, stays within what it was given and is never negative.
TEST(Schedules, EveryEntryStaysWithinBounds) {
  for (const train::ScheduleEntry& entry : train::schedules()) {
    for (const DecayFrom from : {DecayFrom::kWarmup, DecayFrom::kStart, DecayFrom::kChained}) {
      for (const int64_t warmup : {0, 1, 7, 20, 30}) {
        spec::TrainingSpec spec;
        spec.schedule = entry.name, spec.decay_from = from;
        spec.learning_rate = 0.5, spec.warmup = warmup, spec.steps = 20;
        for (int64_t step = 1; step <= 20; ++step) {
          const double rate = learning_rate_at(spec, step);
          ASSERT_TRUE(rate >= 0 && rate <= 0.5 + 1e-12)
              << entry.name << ", " << enum_name(from) << ", warm-up " << warmup << ", step " << step << ": "
              << rate;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed
