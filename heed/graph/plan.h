// Reading 2 of the graph: the memory of every value. Liveness gives each computed value its offset in one
// arena, so the peak memory of a run is known exactly before it.
#pragma once

#include "heed/graph/graph.h"

namespace heed::graph {

// "Memory" in heed always means this sum.
struct Memory {
  int64_t weights = 0;  // parameters
  int64_t state = 0;    // what is kept between runs
  int64_t arena = 0;    // inputs, activations, gradients, scratch
  int64_t peak() const { return weights + state + arena; }
};

struct Plan {
  // Byte offset in the arena of every input and computed value, by value index. Parameters and states are
  // outside (-1), and so are computed values that must share their memory.
  std::vector<int64_t> offset;
  // The parameter or state whose memory a computed value uses, by value index; kNone for all others.
  std::vector<ValueId> lives_in;
  // Required aliases whose input is still read later: the input is copied to the output's memory before the
  // node runs.
  struct Copy {
    int node, input, output;
  };
  std::vector<Copy> copies;
  std::vector<int64_t> scratch_offset;  // by node
  std::vector<int64_t> scratch_bytes;   // by node
  Memory memory;
};

Plan plan(const Graph& graph);

}  // namespace heed::graph
