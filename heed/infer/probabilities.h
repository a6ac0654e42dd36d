// How likely each token is to come next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::infer {

struct TokenProbability {
  int32_t token;
  double log_probability;  // natural
};

// What is subtracted from a score, a logit or a log-probability, to make it the log-probability of its token.
double log_normaliser(std::span<const float> scores);
// The `count` most likely tokens or all, the most likely first; of equals, those with lower ids.
std::vector<TokenProbability> most_likely(std::span<const float> scores, int64_t count);

}  // namespace heed::infer
