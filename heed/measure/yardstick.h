// How fast the machine is at this moment. Other programs, heat and neighbours change that by tens of percent
// within seconds, so timings made at different moments do not compare. A small fixed model is timed between
// them: runs during which it was slow are left out, and the others are scaled by it.
#pragma once

#include <functional>

#include "heed/measure/timed_model.h"

namespace heed::measure {

// Attention and feed-forward, so many times: a model to time the machine with.
spec::ModelSpec plain_model(int64_t pairs, int64_t width, int64_t inner);

class Yardstick {
 public:
  Yardstick();
  double seconds();  // of one run now, about two milliseconds

 private:
  TimedModel model_;
};

// Runs something, at least `least` times without being disturbed, until `seconds` have passed, but no more
// than `most` times, with the yardstick before and after each run. `run` returns the seconds of its sections.
struct Effort {
  int least, most;
  double seconds;
  double share = 0.5;  // of all runs, for Timing::tail
};
std::vector<Timing> time_sections(Yardstick& yardstick, const std::function<std::vector<double>()>& run,
                                  const Effort& effort);

// A round of whole runs: the model is made, warmed up and run this often; more often for the time that a
// larger share of runs stays below than half of them.
struct WholeTiming {
  Timing timing;
  int64_t bytes = 0;  // the process grew by
};
WholeTiming time_whole(Yardstick& yardstick, const spec::ModelSpec& spec, const Work& work,
                       double share = 0.5);
// How many medians this share of the yardstick's own runs stays below: what to expect of other models.
double tail_of(Yardstick& yardstick, double share);

// Which runs were not disturbed: `yardstick` holds one timing before each run and one after the last. If
// fewer than `least_runs` were not, the least disturbed that many.
std::vector<size_t> undisturbed(const std::vector<double>& yardstick, size_t least_runs = 0);

}  // namespace heed::measure
