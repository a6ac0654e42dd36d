#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct ConstantSettings {
  std::vector<int64_t> shape = {1};
  double value = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("shape", shape, "of the result");
    field("value", value, "of every element");
  }
};

// One number for all elements: the seed of a gradient.
ValueId constant(Graph& graph, std::vector<int64_t> shape, double value);

std::vector<OpEntry> constant_ops();

}  // namespace heed::ops
