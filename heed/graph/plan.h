// Reading 2 of the graph: where every value lives. Liveness gives each computed value its place in one arena,
// so the peak memory of a run is known exactly before it.
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
  // Byte offset in the arena of every input and computed value, by value index. Parameters and states live
  // outside (-1), and so do computed values that are required to share their memory.
  std::vector<int64_t> offset;
  // The parameter or state a computed value lives in, by value index; kNone for all others.
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
