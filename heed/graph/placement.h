// Where blocks of memory lie in one arena, given when each of them is in use.
#pragma once

#include <limits>
#include <vector>

#include "heed/graph/graph.h"

namespace heed::graph {

// Memory that one or more values use one after the other.
struct MemoryBlock {
  int64_t bytes = 0;
  int first = std::numeric_limits<int>::max();  // node that first writes it, -1 for before all of them
  int last = -1;                                // node that last reads it
  ValueId outside = kNone;                      // the parameter or state that is this memory
  int64_t offset = -1;
};

// Sets the offset of every block, 0 for those outside or unused, and returns the size of the arena.
// O(n log n) while the memory in use is a few contiguous ranges, as in models however deep.
int64_t place(std::vector<MemoryBlock>& blocks);

}  // namespace heed::graph
