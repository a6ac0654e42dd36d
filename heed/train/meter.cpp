#include "heed/train/meter.h"

#include <cmath>
#include <numbers>

namespace heed::train {

double Score::perplexity() const { return std::exp(mean()); }
double Score::bits_per_token() const { return mean() / std::numbers::ln2; }

void LossMeter::add(std::span<const float> losses, std::span<const float>) {
  HEED_ASSERT(losses.size() == targets_.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    if (targets_[i] < 0) continue;
    nats_ += losses[i];
    ++tokens_;
  }
}

Score LossMeter::score() const {
  Score score{nats_, tokens_};
  score.metrics = {{"loss", score.mean()}};
  return score;
}

}  // namespace heed::train
