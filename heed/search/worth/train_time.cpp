#include "heed/search/worth/train_time.h"

#include <algorithm>
#include <cmath>

#include "heed/measure/timing.h"
#include "heed/search/worth/short_training.h"

namespace heed::search {
namespace {

// The law is flat around its best number of tokens: finer steps would change nothing that can be measured.
const double kRatio = std::sqrt(2.0);

int64_t most_parameters(const TrainTime& time, int64_t tokens) {
  const double seconds_each = measure::training_seconds(training_flops(1, tokens), time.peak);
  return static_cast<int64_t>(std::min(9e18, time.seconds / seconds_each));
}

}  // namespace

TimedTraining train_in_time(const TrainTime& time,
                            const std::function<double(const TimedTraining&)>& best_score) {
  const int64_t most_updates = std::max<int64_t>(1, time.most_tokens / time.per_update);
  double best = -INFINITY;
  TimedTraining chosen;
  for (double updates = static_cast<double>(most_updates);; updates /= kRatio) {
    const int64_t tokens = std::max<int64_t>(1, std::llround(updates)) * time.per_update;
    const TimedTraining training{tokens, most_parameters(time, tokens)};
    const double score = best_score(training);
    if (score > best) best = score, chosen = training;
    // With half the tokens, the larger models that they leave time for have not made up for it, and the more
    // tokens are missing the less they do.
    if (score < best && 2 * tokens <= chosen.tokens) break;
    if (updates <= kLeastTimedUpdates) break;
  }
  return chosen;
}

}  // namespace heed::search
