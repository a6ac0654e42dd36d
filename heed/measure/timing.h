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
};

Timing summarise(std::vector<double> seconds);
// Of rounds apart from each other: the middle one, so that a busy moment of the machine does not count, with
// the spread of them all.
Timing combine(std::vector<Timing> rounds);

// Runs once to warm up, then at least `least` times and until `budget` seconds are spent.
Timing time(const std::function<void()>& body, double budget, int least);

// Multiply-adds of matrix products that all threads together reach at best, counted twice: the peak that
// training and inference are held against. Takes about a quarter of a second the first time.
double peak_flops();
double peak_flops_now();  // measured at each call

}  // namespace heed::measure
