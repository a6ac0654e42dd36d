#pragma once

#include <cstdint>

namespace heed::search {

// A loss at some moment of a training.
struct Moment {
  int64_t tokens = 0;  // seen so far
  double bits_per_byte = 0;
};

}  // namespace heed::search
