// Concat and slice, each the gradient of the other.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct ConcatSettings {
  int64_t axis = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("axis", axis, "dimension along which values are joined");
  }
};

ValueId concat(Graph& graph, const std::vector<ValueId>& xs, int64_t axis);

struct SliceSettings {
  int64_t axis = 0;
  int64_t begin = 0;
  int64_t end = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("axis", axis, "dimension that is cut");
    field("begin", begin, "first index kept");
    field("end", end, "one past the last index kept");
  }
};

ValueId slice(Graph& graph, ValueId x, SliceSettings settings);

std::vector<OpEntry> arrange_ops();

}  // namespace heed::ops
