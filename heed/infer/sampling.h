// Which token comes next, given the logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::infer {

struct SamplingSpec {
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repeat_penalty = 1;
  int64_t repeat_last = 64;
  int64_t seed = 1;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("temperature", temperature,
          "sampling temperature; below 1 favours likely tokens, 0 always takes the most likely");
    field("top_k", top_k, "sample from this many most likely tokens; 0: all");
    field("top_p", top_p, "sample from the fewest tokens whose probabilities add up to this; 1: all");
    field("min_p", min_p,
          "sample from tokens with at least this fraction of the highest probability; 0: all");
    field("repeat_penalty", repeat_penalty, "above 1 makes recent tokens less likely; 1: off");
    field("repeat_last", repeat_last, "number of recent tokens that are penalised; 0: none, -1: all");
    field("seed", seed, "seed of the sampling");
  }
};

// Throws an Error that names the first setting out of range, and the range.
void validate(const SamplingSpec& spec);

// Draws tokens one after the other. In this order: repeat penalty; temperature; top_k; top_p of what is left;
// min_p; the draw. Of equally likely tokens those with lower ids count as more likely. Draw number n depends
// on the seed, n and the logits only. Not for use by several threads at once.
class Sampler {
 public:
  explicit Sampler(const SamplingSpec& spec);

  // `logits`: one finite number per token, or log-probabilities; `recent`: the tokens so far, the newest
  // last, for the repeat penalty. Allocates in the first call only.
  int32_t sample(std::span<const float> logits, std::span<const int32_t> recent = {});

  int64_t drawn() const { return drawn_; }

 private:
  struct Candidate {
    float logit;
    int32_t token;
  };
  // A total order, so that the tokens kept do not depend on how they are found.
  static bool more_likely(const Candidate& a, const Candidate& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
  }

  void penalise(std::span<const float> logits, std::span<const int32_t> recent);
  float weight(float logit) const;
  Candidate last_of_top_k();
  Candidate last_of_top_p(Candidate last);
  double uniform() const;

  SamplingSpec spec_;
  int64_t drawn_ = 0;
  float largest_ = 0;                  // logit
  std::vector<float> logits_;          // after the penalty
  std::vector<float> weights_;         // probabilities up to a factor; 0 for excluded tokens
  std::vector<Candidate> candidates_;  // for the selections
};

}  // namespace heed::infer
