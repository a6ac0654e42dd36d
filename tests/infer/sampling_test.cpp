#include "heed/infer/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "heed/base/fields.h"
#include "heed/base/philox.h"
#include "tests/support/allocations.h"
#include "tests/support/messages.h"

namespace heed::infer {
namespace {

std::vector<float> random_logits(int64_t count, double spread, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> logits(static_cast<size_t>(count));
  for (float& logit : logits) logit = static_cast<float>(spread * rng.normal());
  return logits;
}

// The definition, with a full sort, in double: the probability of each token.
std::vector<double> reference(const SamplingSpec& spec, const std::vector<float>& logits,
                              const std::vector<int32_t>& recent = {}) {
  std::vector<double> x(logits.begin(), logits.end());
  const size_t n =
      spec.repeat_last < 0 ? recent.size() : std::min(recent.size(), static_cast<size_t>(spec.repeat_last));
  for (const int32_t token : std::set<int32_t>(recent.end() - static_cast<std::ptrdiff_t>(n), recent.end())) {
    double& logit = x[static_cast<size_t>(token)];
    logit = logit > 0 ? logit / spec.repeat_penalty : logit * spec.repeat_penalty;
  }
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] > x[b]; });
  if (spec.top_k > 0 && static_cast<size_t>(spec.top_k) < order.size())
    order.resize(static_cast<size_t>(spec.top_k));
  std::vector<double> p(x.size());
  const auto normalise = [&] {
    double total = 0;
    for (const size_t i : order) total += p[i];
    std::vector<double> next(x.size());
    for (const size_t i : order) next[i] = p[i] / total;
    p = next;
  };
  for (const size_t i : order) p[i] = std::exp((x[i] - x[order[0]]) / spec.temperature);
  normalise();
  double sum = 0;
  size_t kept = 0;
  while (kept < order.size() && sum < spec.top_p) sum += p[order[kept++]];
  order.resize(kept);
  normalise();
  std::erase_if(order, [&, most = p[order[0]]](size_t i) { return p[i] < spec.min_p * most; });
  normalise();
  return p;
}

// Frequencies against probabilities: chi-square over the tokens that are expected 10 times or more, the
// others as one. With m degrees of freedom it exceeds m + 2 sqrt(m x) + 2 x with probability e^-x at most
// (Laurent and Massart 2000, lemma 1): for x = 12, once in 160,000 tests.
void check_frequencies(const SamplingSpec& spec, const std::vector<float>& logits,
                       const std::vector<int32_t>& recent, int draws, const std::string& what) {
  const std::vector<double> p = reference(spec, logits, recent);
  Sampler sampler(spec);
  std::vector<int> count(logits.size());
  for (int i = 0; i < draws; ++i) ++count[static_cast<size_t>(sampler.sample(logits, recent))];
  double square = 0, rest_expected = 0, rest_count = 0;
  int cells = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = p[i] * draws;
    if (p[i] == 0) {
      EXPECT_EQ(count[i], 0) << what << ": token " << i << " is filtered and was drawn";
    } else if (expected >= 10) {
      square += (count[i] - expected) * (count[i] - expected) / expected;
      ++cells;
    } else {
      rest_expected += expected, rest_count += count[i];
    }
  }
  if (rest_expected >= 10) {
    square += (rest_count - rest_expected) * (rest_count - rest_expected) / rest_expected;
    ++cells;
  }
  const double freedom = std::max(1, cells - 1);
  EXPECT_LT(square, freedom + 2 * std::sqrt(freedom * 12) + 2 * 12) << what;
}

TEST(Sampling, DrawsWithTheExactProbabilities) {
  const std::vector<int32_t> recent = {3, 5, 3, 8, 11, 5};
  struct Case {
    const char* what;
    Json settings;
  };
  const std::vector<Case> cases = {
      {"plain", Json::object()},
      {"cold", {{"temperature", 0.5}}},
      {"hot", {{"temperature", 3}}},
      {"top_k", {{"top_k", 7}}},
      {"top_k of all", {{"top_k", 50}}},
      {"top_k beyond all", {{"top_k", 1000000}}},
      {"top_p", {{"top_p", 0.8}}},
      {"small top_p", {{"top_p", 1e-9}}},
      {"min_p", {{"min_p", 0.1}}},
      {"penalty", {{"repeat_penalty", 1.7}}},
      {"penalty of the last", {{"repeat_penalty", 1.7}, {"repeat_last", 2}}},
      {"penalty of all", {{"repeat_penalty", 1.7}, {"repeat_last", -1}}},
      {"no penalty", {{"repeat_penalty", 1.7}, {"repeat_last", 0}}},
      {"all",
       {{"temperature", 1.4}, {"top_k", 30}, {"top_p", 0.9}, {"min_p", 0.02}, {"repeat_penalty", 1.2}}},
  };
  for (const Case& given : cases) {
    for (const uint64_t seed : {1, 2}) {
      auto spec = from_json<SamplingSpec>(given.settings, given.what);
      spec.seed = static_cast<int64_t>(seed);
      check_frequencies(spec, random_logits(50, 2, seed), recent, 8000, given.what);
    }
  }
}

// Which tokens a filter leaves, for many sizes, by drawing until all of them must have come up.
TEST(Sampling, FiltersKeepWhatTheDefinitionKeeps) {
  for (const int64_t V : {1, 2, 3, 7, 8, 9, 31}) {
    for (const int64_t top_k : {0, 1, 2, 5}) {
      for (const double top_p : {0.2, 0.7, 0.95, 1.0}) {
        for (const double min_p : {0.0, 0.3, 1.0}) {
          SamplingSpec spec;
          spec.top_k = top_k, spec.top_p = top_p, spec.min_p = min_p;
          const auto logits = random_logits(V, 0.7, static_cast<uint64_t>(V));
          const std::vector<double> p = reference(spec, logits);
          const double least = *std::min_element(
              p.begin(), p.end(), [](double a, double b) { return (a > 0 ? a : 2) < (b > 0 ? b : 2); });
          Sampler sampler(spec);
          std::set<int32_t> drawn, expected;
          for (int i = 0; i < 30 / least; ++i) drawn.insert(sampler.sample(logits));  // misses one with e^-30
          for (size_t i = 0; i < p.size(); ++i) {
            if (p[i] > 0) expected.insert(static_cast<int32_t>(i));
          }
          EXPECT_EQ(drawn, expected) << V << " tokens, top_k " << top_k << ", top_p " << top_p << ", min_p "
                                     << min_p;
        }
      }
    }
  }
}

TEST(Sampling, EqualLogitsCountByToken) {
  const std::vector<float> logits(10, 0.25f);
  SamplingSpec spec;
  spec.top_k = 3;
  Sampler by_rank(spec);
  for (int i = 0; i < 200; ++i) EXPECT_LT(by_rank.sample(logits), 3);
  spec.top_k = 0, spec.top_p = 0.45;
  Sampler by_share(spec);
  for (int i = 0; i < 200; ++i) EXPECT_LT(by_share.sample(logits), 5);
  spec.temperature = 0;
  EXPECT_EQ(Sampler(spec).sample(logits), 0);
}

TEST(Sampling, TemperatureZeroTakesTheMostLikelyAfterThePenalty) {
  SamplingSpec spec;
  spec.temperature = 0;
  const std::vector<float> logits = {1, 4, 3.5f, -1};
  EXPECT_EQ(Sampler(spec).sample(logits), 1);
  spec.repeat_penalty = 1.5;
  EXPECT_EQ(Sampler(spec).sample(logits, std::vector<int32_t>{1}), 2);
  // Only the newest count.
  spec.repeat_last = 1;
  EXPECT_EQ(Sampler(spec).sample(logits, std::vector<int32_t>{1, 2}), 1);
  EXPECT_EQ(Sampler(spec).sample(logits, std::vector<int32_t>{2, 1}), 2);
  // Log-probabilities are negative: a penalty still makes a token less likely.
  EXPECT_EQ(Sampler(spec).sample(std::vector<float>{-1, -1.2f}, std::vector<int32_t>{0}), 1);
  // As does the smallest temperature there is, and the largest logits.
  spec = {};
  spec.temperature = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(Sampler(spec).sample(logits), 1);
  spec.temperature = 1, spec.repeat_penalty = 0.5;
  constexpr float kHuge = std::numeric_limits<float>::max();
  EXPECT_EQ(Sampler(spec).sample(std::vector<float>{-kHuge, kHuge, 0}, std::vector<int32_t>{0, 1}), 1);
}

TEST(Sampling, ShiftingAllLogitsChangesNothing) {
  SamplingSpec spec;
  spec.top_p = 0.9, spec.min_p = 0.01;
  const auto logits = random_logits(1000, 2, 3);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit);
  std::vector<float> log_probabilities;
  for (const float logit : logits) log_probabilities.push_back(static_cast<float>(logit - std::log(sum)));
  Sampler a(spec), b(spec);
  int same = 0;
  for (int i = 0; i < 500; ++i) same += a.sample(logits) == b.sample(log_probabilities);
  // Rounding moves each of 1000 boundaries by some 2^-24: a draw falls between with probability 1e-4 at most,
  // and two of 500 do with 1e-3.
  EXPECT_GE(same, 499);
}

TEST(Sampling, ASeedRepeatsAndSeedsDiffer) {
  const auto logits = random_logits(300, 1, 4);
  const auto tokens = [&](int64_t seed) {
    SamplingSpec spec;
    spec.seed = seed, spec.top_p = 0.9;
    Sampler sampler(spec);
    std::vector<int32_t> out;
    for (int i = 0; i < 50; ++i) out.push_back(sampler.sample(logits));
    EXPECT_EQ(sampler.drawn(), 50);
    return out;
  };
  EXPECT_EQ(tokens(1), tokens(1));
  EXPECT_NE(tokens(1), tokens(2));
  EXPECT_NE(tokens(1), tokens(1 + (int64_t{1} << 32)));
  EXPECT_EQ(tokens(-1), tokens(-1));

  // Number n depends on n, not on the logits before it.
  Sampler a{SamplingSpec{}}, b{SamplingSpec{}};
  a.sample(logits), b.sample(std::vector<float>{1, 2});
  EXPECT_EQ(a.sample(logits), b.sample(logits));
}

TEST(Sampling, LargeVocabularyMatchesTheDefinitionAndTakesNoMemory) {
  constexpr int64_t V = 270000;
  const auto flat = random_logits(V, 1, 9), steep = random_logits(V, 4, 9);
  for (const auto& [logits, settings] : std::vector<std::pair<std::vector<float>, Json>>{
           {steep, Json::object()},
           {steep, {{"top_p", 0.9}}},
           {flat, {{"top_p", 0.9}}},
           {flat, {{"top_k", 1000}, {"top_p", 0.5}, {"min_p", 0.2}}}}) {
    const auto spec = from_json<SamplingSpec>(settings, "spec");
    const std::vector<double> p = reference(spec, logits);
    std::array<int32_t, 5> tokens;
    Sampler sampler(spec);
    sampler.sample(logits);
    const int64_t before = test::allocations();
    for (int32_t& token : tokens) token = sampler.sample(logits);
    EXPECT_EQ(test::allocations(), before) << settings;
    for (const int32_t token : tokens) EXPECT_GT(p[static_cast<size_t>(token)], 0) << settings;
  }
}

std::string complaint(const SamplingSpec& spec, const std::vector<float>& logits = {1, 2},
                      const std::vector<int32_t>& recent = {}) {
  return test::message_of([&] { Sampler(spec).sample(logits, recent); }, test::kAnyKind);
}

TEST(Sampling, RefusesSettingsOutOfRange) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto with = [](const char* name, const Json& value) {
    return complaint(from_json<SamplingSpec>(Json{{name, value}}, "spec"));
  };
  EXPECT_EQ(with("temperature", -0.1), "sampling: temperature is -0.1; it must be from 0 to 100");
  EXPECT_EQ(with("top_p", 0), "sampling: top_p is 0; it must be above 0 and at most 1");
  for (const auto& [name, values] :
       std::vector<std::pair<const char*, std::vector<double>>>{{"temperature", {-1, 101, nan}},
                                                                {"top_p", {-1, 0, 1.1, nan}},
                                                                {"min_p", {-0.1, 1.1, nan}},
                                                                {"repeat_penalty", {0, -1, 1000, nan}}}) {
    for (const double value : values) EXPECT_NE(with(name, value).find(name), std::string::npos) << value;
  }
  EXPECT_NE(with("top_k", -1), "");
  EXPECT_NE(with("repeat_last", -2), "");
  EXPECT_EQ(with("repeat_last", -1), "");
}

TEST(Sampling, RefusesLogitsAndTokensThatMakeNoSense) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const double temperature : {0.0, 1.0}) {
    SamplingSpec spec;
    spec.temperature = temperature;
    for (const float wrong : {inf, -inf, nan})
      EXPECT_NE(complaint(spec, {0, 1, wrong}).find("the logit of token 2 is "), std::string::npos) << wrong;
    EXPECT_NE(complaint(spec, {}), "");
    spec.repeat_penalty = 2;
    EXPECT_EQ(complaint(spec, {0, 1}, {2}), "sampling: recent token 2 is not one of 2");
    EXPECT_NE(complaint(spec, {0, 1}, {-1}), "");
  }
}

}  // namespace
}  // namespace heed::infer
