#include "heed/infer/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/philox.h"

namespace heed::infer {
namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();

// Also refuses NaN, which compares false.
void check_range(const char* name, double value, bool fits, const char* range) {
  if (!fits) throw usage_error("sampling: ", name, " is ", value, "; it must be ", range);
}

bool finite(float value) { return std::abs(value) <= kLargestFloat; }

}  // namespace

void validate(const SamplingSpec& spec) {
  constexpr double kMost = 100;
  check_range("temperature", spec.temperature, spec.temperature >= 0 && spec.temperature <= kMost,
              "from 0 to 100");
  check_range("top_k", static_cast<double>(spec.top_k), spec.top_k >= 0, "0 or more");
  check_range("top_p", spec.top_p, spec.top_p > 0 && spec.top_p <= 1, "above 0 and at most 1");
  check_range("min_p", spec.min_p, spec.min_p >= 0 && spec.min_p <= 1, "from 0 to 1");
  check_range("repeat_penalty", spec.repeat_penalty, spec.repeat_penalty > 0 && spec.repeat_penalty <= kMost,
              "above 0 and at most 100");
  check_range("repeat_last", static_cast<double>(spec.repeat_last), spec.repeat_last >= -1, "-1 or more");
}

Sampler::Sampler(const SamplingSpec& spec) : spec_(spec) { validate(spec); }

// Keskar and others 2019 (CTRL), section 4.1, with regard to the sign of the logit: dividing a negative one
// would make the token more likely.
void Sampler::penalise(std::span<const float> logits, std::span<const int32_t> recent) {
  logits_.assign(logits.begin(), logits.end());
  if (spec_.repeat_penalty == 1) return;
  const auto penalty = static_cast<float>(spec_.repeat_penalty);
  if (spec_.repeat_last >= 0)
    recent = recent.last(std::min(recent.size(), static_cast<size_t>(spec_.repeat_last)));
  for (int32_t token : recent) {
    if (token < 0 || static_cast<size_t>(token) >= logits.size())
      throw usage_error("sampling: recent token ", token, " is not one of ", logits.size());
    // From the original logit: a token that occurs twice is penalised once.
    const float logit = logits[static_cast<size_t>(token)];
    logits_[static_cast<size_t>(token)] =
        std::clamp(logit > 0 ? logit / penalty : logit * penalty, -kLargestFloat, kLargestFloat);
  }
}

float Sampler::weight(float logit) const {
  return std::exp(static_cast<float>((static_cast<double>(logit) - largest_) / spec_.temperature));
}

Sampler::Candidate Sampler::last_of_top_k() {
  candidates_.clear();
  for (size_t i = 0; i < logits_.size(); ++i) candidates_.push_back({logits_[i], static_cast<int32_t>(i)});
  const auto last = candidates_.begin() + spec_.top_k - 1;
  std::nth_element(candidates_.begin(), last, candidates_.end(), more_likely);
  return *last;
}

// The last token of the shortest list of most likely tokens whose weights reach top_p of the total (Holtzman
// and others 2020, section 3.1). Bisection instead of sorting: O(V).
Sampler::Candidate Sampler::last_of_top_p(Candidate last) {
  double total = 0;
  for (float weight : weights_) total += weight;
  // All tokens with less than 1/V of what top_p leaves out weigh less than that together, so the list ends
  // before the first such token. Half of the bound is used, to be safe from rounding.
  const double least = 0.5 * (1 - spec_.top_p) * total / static_cast<double>(weights_.size());
  candidates_.clear();
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] > 0 && weights_[i] >= least) candidates_.push_back({logits_[i], static_cast<int32_t>(i)});
  }
  double missing = spec_.top_p * total;  // weight that the tokens before `begin` lack
  auto begin = candidates_.begin(), end = candidates_.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, more_likely);
    double sum = 0;
    for (auto i = begin; i != middle; ++i) sum += weights_[static_cast<size_t>(i->token)];
    if (sum >= missing) {
      end = middle;
    } else {
      missing -= sum;
      begin = middle;
    }
  }
  return begin == end ? last : *begin;
}

// Strictly between 0 and 1, with 52 bits: 32 would never reach tokens less likely than 2^-32.
double Sampler::uniform() const {
  const auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](int64_t value) { return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32); };
  const auto words = philox({low(drawn_), high(drawn_), 0, 0}, {low(spec_.seed), high(spec_.seed)});
  const uint64_t bits = (static_cast<uint64_t>(words[0]) << 32 | words[1]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

int32_t Sampler::sample(std::span<const float> logits, std::span<const int32_t> recent) {
  const size_t V = logits.size();
  if (V == 0) throw usage_error("sampling: there are no logits to choose from");
  const auto wrong = std::find_if_not(logits.begin(), logits.end(), finite);
  if (wrong != logits.end())
    throw damaged_error("sampling: the logit of token ", wrong - logits.begin(), " is ", *wrong,
                        "; the model is damaged");

  penalise(logits, recent);
  const auto first = std::max_element(logits_.begin(), logits_.end());
  if (spec_.temperature == 0) {
    ++drawn_;
    return static_cast<int32_t>(first - logits_.begin());
  }
  largest_ = *first;
  weights_.resize(V);
  const bool by_rank = spec_.top_k > 0 && static_cast<size_t>(spec_.top_k) < V;
  if (by_rank || spec_.top_p < 1) candidates_.reserve(V);

  // Selections find the last token to keep, and the draw walks the tokens by id: the result does not depend
  // on the order that a selection leaves behind.
  Candidate last{-kLargestFloat, std::numeric_limits<int32_t>::max()};
  const auto kept = [&](size_t i) { return !more_likely(last, {logits_[i], static_cast<int32_t>(i)}); };
  if (by_rank) last = last_of_top_k();
  for (size_t i = 0; i < V; ++i) weights_[i] = kept(i) ? weight(logits_[i]) : 0;
  if (spec_.top_p < 1) last = last_of_top_p(last);
  double total = 0;
  for (size_t i = 0; i < V; ++i) {
    if (!kept(i) || weights_[i] < spec_.min_p) weights_[i] = 0;  // the largest weight is 1
    total += weights_[i];
  }
  const double target = uniform() * total;
  ++drawn_;
  double sum = 0;
  for (size_t i = 0; i < V; ++i) {
    sum += weights_[i];
    if (sum >= target) return static_cast<int32_t>(i);
  }
  HEED_ASSERT(sum >= target);  // the same sum as the total, and target is at most that
  return 0;
}

}  // namespace heed::infer
