// Which models of a frontier, which may be very large, to show and to recommend.
#pragma once

#include <span>

#include "heed/search/front.h"

namespace heed::search {

// About `count` of them: the best at each of a number of latencies and of memory sizes, evenly spread over
// their logarithms. In order of latency.
std::vector<size_t> spread(std::span<const Point> frontier, size_t count);

struct Picks {
  size_t best = 0;   // the highest score
  size_t knee = 0;   // where more latency starts to add less score: farthest above the line between the ends
  size_t cheap = 0;  // the fastest within 1% of the best score
};
// At least one point.
Picks pick(std::span<const Point> models);

}  // namespace heed::search
