#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct AccumulateSettings {
  double factor = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("factor", factor, "x is multiplied by it");
  }
};

// Gradients of several chunks of a batch: sum = factor * x for the first chunk, sum + factor * x for the
// others. sum: a state; chunk: i32 [1], 0 for the first. Returns the sum, in the state's memory.
ValueId accumulate(Graph& graph, ValueId sum, ValueId x, ValueId chunk, AccumulateSettings settings);

std::vector<OpEntry> accumulate_ops();

}  // namespace heed::ops
