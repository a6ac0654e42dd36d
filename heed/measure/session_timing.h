// How long a user waits: for loading a model, for a prompt, and for each token.
#pragma once

#include <vector>

#include "heed/infer/session.h"
#include "heed/measure/timing.h"

namespace heed::measure {

struct SessionSamples {
  std::vector<double> load, prompt, step;  // seconds, run by run
  int64_t resident = 0;                    // bytes the process grew by, at most

  double first_token() const;  // from nothing: medians of loading and of a prompt, which gives its scores
};

// One round: makes a session, runs it once to warm up, then prompts of a whole chunk and steps after them for
// about this many seconds, at least `least` of each. `weights` is null for synthetic ones.
void sample_session(const spec::ModelSpec& spec, infer::Serving serving, const model::Source* weights,
                    double seconds, int least, SessionSamples& samples);

// How many are above twice the median: the machine was busy with something else.
int64_t outliers(const std::vector<double>& values);

}  // namespace heed::measure
