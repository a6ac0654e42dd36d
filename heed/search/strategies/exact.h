// The frontier of an entire space, by dynamic programming: latency, parameters and resident bytes add up over
// layers, in any order, and the arena is the largest of any layer.
#pragma once

#include "heed/search/strategies/strategies.h"

namespace heed::search {

StrategyEntry exact_strategy();

// Every model of the space on the frontier of score, latency and memory; of those with equal score, latency
// and memory at least one. Throws if the space has too many different sums.
std::vector<Evaluated> exact_front(const SearchProblem& problem);

// For each frame the model with the highest score within the limits, the fastest of several (by the
// objective); none for a frame that nothing fits in.
std::vector<Evaluated> exact_best(const SearchProblem& problem);

}  // namespace heed::search
