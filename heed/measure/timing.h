// Timing: medians with their spread, because the machine is never quiet.
#pragma once

#include <functional>
#include <vector>

namespace heed::measure {

struct Timing {
  double median = 0;  // seconds
  double low = 0;     // 10th percentile
  double high = 0;    // 90th percentile
  int runs = 0;
  double yardstick = 0;  // seconds of the yardstick (yardstick.h) meanwhile; 0: not known
  // How many medians the percentile that was asked for takes, of all runs, disturbed or not, in the slowest
  // of the rounds that were not disturbed.
  double tail = 1;

  double held() const {
    return median * tail;
  }  // the time that this share of runs stays below, in each round
};
// What it would be on a machine where the yardstick takes `reference` seconds; the same if one is not known.
Timing scaled(Timing timing, double reference);
// If the yardstick takes longer than the least by more than this share, something else was running.
constexpr double kDisturbed = 0.1;

// The quantile of values in any order; a share of 0.5 is the median. 0 if there are none.
double percentile(std::vector<double> values, double share);
Timing summarise(const std::vector<double>& seconds);
// Of separate rounds, those that were not disturbed: the median one, with the spread of all of them. They are
// scaled to `reference` (scaled()).
Timing combine(std::vector<Timing> rounds, double reference = 0);
// Whether there are enough rounds: at least three, two of them not disturbed, with the median near the
// fastest; or too many.
constexpr size_t kLeastRounds = 3, kMostRounds = 5;
bool settled(const std::vector<Timing>& rounds);

// Times each thing in rounds, interleaved, until the rounds of each agree. `progress` gets the number of
// timings done, and the number expected so far.
std::vector<Timing> time_interleaved(size_t things,
                                     const std::function<Timing(size_t which, int64_t round)>& time_one,
                                     const std::function<void(size_t done, size_t all)>& progress,
                                     double reference = 0);

// Runs once to warm up, then at least `least` times and for at least `budget` seconds.
Timing time(const std::function<void()>& body, double budget, int least);

// The best FLOPS of matrix products with all threads (a multiply-add counts as 2): the peak that training and
// inference are compared with. Takes about a quarter of a second the first time.
double peak_flops();
double peak_flops_now();  // measured at each call
// Seconds for this many operations of training at two thirds of the peak, which training reaches (`heed bench
// --train`).
double training_seconds(double flops, double peak = peak_flops());

}  // namespace heed::measure
