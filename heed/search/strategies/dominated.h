// Which of many points are dominated, in more dimensions than a staircase can hold (front.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::search {

// Lower is better in each; those that nobody asks for are 0 in all points.
using Coordinates = std::array<double, 9>;

// For each point, 1 if another is at least as low in all coordinates; of equal points the first is not
// dominated by the others.
std::vector<uint8_t> dominated(std::span<const Coordinates> points);

}  // namespace heed::search
