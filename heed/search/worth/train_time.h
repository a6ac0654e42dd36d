// How many tokens to train on in a given time. A smaller model sees more of them: for each number of tokens
// only models that can see so many in the time are candidates, and the best of the best is chosen.
#pragma once

#include <cstdint>
#include <functional>

namespace heed::search {

struct TrainTime {
  double seconds = 0;
  double peak = 0;          // operations per second of this device
  int64_t per_update = 0;   // tokens
  int64_t most_tokens = 0;  // that the text is good for
};
struct TimedTraining {
  int64_t tokens = 0;
  int64_t most_parameters = 0;  // of a model that sees so many in the time
};

// More passes over a text teach little (Muennighoff et al. 2023, Scaling data-constrained language models).
inline constexpr int64_t kMostPasses = 4;

// Shorter trainings are not worth choosing a model for.
inline constexpr int64_t kLeastTimedUpdates = 64;

// `best_score`: of the models with at most this many parameters, trained on this many tokens; -inf if there
// is none. 0 tokens if there is no model for any number of them.
TimedTraining train_in_time(const TrainTime& time,
                            const std::function<double(const TimedTraining&)>& best_score);

}  // namespace heed::search
