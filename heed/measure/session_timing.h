// How long a reader waits: a model loaded, a prompt taken, one token after the other.
#pragma once

#include <vector>

#include "heed/infer/session.h"

namespace heed::measure {

struct SessionSamples {
  std::vector<double> load, prompt, step;  // seconds, run by run
  graph::Memory planned;
  int64_t resident = 0;  // bytes the process grew by, at most

  double first_token() const;  // from nothing: medians of loading and of a prompt, which gives its scores
};

// One round: makes a session, runs it once to warm up, then prompts of `length` tokens and steps after them
// for about so many seconds, at least `least` of each. `weights` is null for made-up ones.
void sample_session(const spec::ModelSpec& spec, int64_t length, const model::Source* weights, double seconds,
                    int least, SessionSamples& samples);

// Of values in any order; share 0.5 is the median.
double percentile(std::vector<double> values, double share);
// How many lie beyond twice the median: the machine did something else.
int64_t outliers(const std::vector<double>& values);

}  // namespace heed::measure
