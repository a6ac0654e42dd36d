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
// Whether they say enough: there are three, and the middle one is near the fastest; or there are too many.
constexpr size_t kLeastRounds = 3, kMostRounds = 5;
bool settled(const std::vector<Timing>& rounds);

// Times so many things in turns, until the rounds of each are settled. `progress` gets the turns done, and
// how many there will be as far as is known.
std::vector<Timing> time_in_turns(size_t things,
                                  const std::function<Timing(size_t which, int64_t round)>& time_one,
                                  const std::function<void(size_t done, size_t all)>& progress);

// Runs once to warm up, then at least `least` times and until `budget` seconds are spent.
Timing time(const std::function<void()>& body, double budget, int least);

// Multiply-adds of matrix products that all threads together reach at best, counted twice: the peak that
// training and inference are held against. Takes about a quarter of a second the first time.
double peak_flops();
double peak_flops_now();  // measured at each call
// What so many operations of training take at two thirds of the peak, which training reaches (`heed bench
// --train`).
double training_seconds(double flops);

}  // namespace heed::measure
