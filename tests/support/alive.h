// What a graph needs at the least.
#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "heed/graph/plan.h"
#include "heed/tensor/buffer.h"

namespace heed::test {

struct Alive {
  int64_t most = 0;     // bytes at once: no arena is smaller
  int64_t inputs = 0;   // of those
  int64_t largest = 0;  // value or scratch
};

// Inputs are there all the time, a computed value from the node that makes it to the last that reads it,
// scratch during its node. Values that share memory count once.
//
// How close to that an arena can be is not known: placing values of given lives in the least room is NP-hard.
// The plan places the largest first, each in a gap that holds it, so that what lies unused is always smaller
// than what was placed: tests hold it to waste less than the largest value is.
inline Alive alive_at_once(const graph::Graph& graph, const graph::Plan& plan) {
  const auto nodes = static_cast<int>(graph.nodes().size());
  std::vector<int> last(graph.values().size(), -1);
  for (int n = 0; n < nodes; ++n) {
    for (graph::ValueId id : graph.nodes()[static_cast<size_t>(n)].inputs) {
      if (id) last[static_cast<size_t>(id.index)] = n;
    }
  }
  for (graph::ValueId id : graph.outputs()) last[static_cast<size_t>(id.index)] = nodes;
  Alive result;
  for (int n = 0; n < nodes; ++n) {
    int64_t alive = align_up(plan.scratch_bytes[static_cast<size_t>(n)]), inputs = 0;
    result.largest = std::max(result.largest, alive);
    std::set<int64_t> counted;  // offsets
    for (size_t i = 0; i < graph.values().size(); ++i) {
      const graph::Value& value = graph.values()[i];
      if (plan.offset[i] < 0) continue;  // not in the arena
      const bool computed = value.role == graph::Role::kComputed;
      if (computed && (value.producer > n || std::max(last[i], value.producer) < n)) continue;
      const int64_t bytes = align_up(value.type.bytes());
      result.largest = std::max(result.largest, bytes);
      if (bytes == 0 || !counted.insert(plan.offset[i]).second) continue;
      alive += bytes;
      if (!computed) inputs += bytes;
    }
    result.most = std::max(result.most, alive);
    result.inputs = inputs;
  }
  return result;
}

}  // namespace heed::test
