// Laws of relaxed draws, over many of them. Single ones are held against PyTorch in oracle_test.cpp.
#include "heed/ops/gumbel_softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/graph/program.h"
#include "tests/support/rounding.h"

namespace heed {
namespace {

class Draws {
 public:
  Draws(std::vector<float> logits, float temperature, int64_t stream = 3) {
    auto graph = std::make_shared<graph::Graph>();
    const auto n = static_cast<int64_t>(logits.size());
    result_ = ops::gumbel_softmax(*graph, graph->input("logits", {n}), graph->input("temperature", {1}),
                                  graph->input("rng", {4}, DType::kI32), {stream});
    graph->mark_output(result_);
    program_ = std::make_unique<graph::Program>(graph, variables_);
    std::ranges::copy(logits, program_->input("logits").f32());
    program_->input("temperature").f32()[0] = temperature;
    program_->input("rng").i32()[0] = 77;
  }
  std::vector<float> at(int32_t step) {
    program_->input("rng").i32()[2] = step;
    program_->run();
    const auto m = program_->tensor(result_).floats();
    return {m.begin(), m.end()};
  }

 private:
  graph::Variables variables_;
  graph::ValueId result_;
  std::unique_ptr<graph::Program> program_;
};

const std::vector<float> kLogits = {0.3f, -1.f, 1.2f, 0.f, 0.6f};

std::vector<double> softmax(const std::vector<float>& logits) {
  std::vector<double> shares;
  double sum = 0;
  for (const float logit : logits) sum += shares.emplace_back(std::exp(static_cast<double>(logit)));
  for (double& share : shares) share /= sum;
  return shares;
}

TEST(GumbelSoftmax, WinsAsOftenAsSoftmaxSays) {
  constexpr int kRuns = 40000;
  for (const float temperature : {5.f, 0.1f}) {  // which one wins does not depend on it
    Draws draws(kLogits, temperature);
    std::vector<int> wins(kLogits.size());
    for (int step = 0; step < kRuns; ++step) {
      const std::vector<float> m = draws.at(step);
      ++wins[static_cast<size_t>(std::ranges::max_element(m) - m.begin())];
    }
    const std::vector<double> expected = softmax(kLogits);
    for (size_t i = 0; i < wins.size(); ++i) {
      const double deviation = std::sqrt(kRuns * expected[i] * (1 - expected[i]));
      EXPECT_NEAR(wins[i], kRuns * expected[i], 4 * deviation) << i;
    }
  }
}

// The largest of x = logit + noise is log(sum e^logit) on average, a standard Gumbel's mean aside. At a high
// temperature T the largest share is therefore 1/5 (1 + (log sum e^logit - mean logit) / T), what is of the
// square of 1/T left out: (x - mean x)^2 / (2 T^2) with x up to 10 apart. At a low one the winner lacks a
// share only where the next is within T or so of it, which happens with probability T sum p (1 - p) < T.
TEST(GumbelSoftmax, BecomesOneHotAsTheTemperatureFalls) {
  double sum_of_all = 0, mean_logit = 0;
  for (const float logit : kLogits)
    sum_of_all += std::exp(static_cast<double>(logit)), mean_logit += logit / 5.;
  double before = 0;
  for (const float temperature : {100.f, 5.f, 1.f, 0.1f, 0.001f}) {
    Draws draws(kLogits, temperature);
    double mean = 0;
    for (int step = 0; step < 2000; ++step) {
      const std::vector<float> m = draws.at(step);
      double sum = 0;
      for (const float share : m) sum += share;
      ASSERT_NEAR(sum, 1, test::rounding_bound(5));
      mean += *std::ranges::max_element(m) / 2000;
    }
    EXPECT_GT(mean, before) << temperature;
    before = mean;
    if (temperature == 100) {
      EXPECT_NEAR(mean, 0.2 * (1 + (std::log(sum_of_all) - mean_logit) / 100), 0.2 * 100 / (2 * 100. * 100));
    }
  }
  EXPECT_GT(before, 1 - 0.001);
}

TEST(GumbelSoftmax, EveryRunAndEveryLayerHasADrawOfItsOwnThatRepeats) {
  Draws one(kLogits, 1), same(kLogits, 1), other(kLogits, 1, 4);
  const std::vector<float> first = one.at(1);
  EXPECT_NE(one.at(2), first);
  EXPECT_EQ(one.at(1), first);
  EXPECT_EQ(same.at(1), first);
  EXPECT_NE(other.at(1), first);
}

}  // namespace
}  // namespace heed
