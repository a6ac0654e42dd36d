// Sums, products, scaling and weighted sums of values of one shape.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

ValueId add(Graph& graph, ValueId a, ValueId b);
ValueId mul(Graph& graph, ValueId a, ValueId b);

struct ScaleSettings {
  double factor = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("factor", factor, "a constant");
  }
};

// y = factor * by * x, by: a learned scalar [1] or kNone.
ValueId scale(Graph& graph, ValueId x, double factor, ValueId by = kNone);

// y = sum_i weights[i] * x_i: the layer of a supernet (Mandava and others 2020, equation 6). Inputs weights:
// [n], then x_0 .. x_{n-1} of one shape, at most kernels::kMostMixed of them.
ValueId mix(Graph& graph, ValueId weights, const std::vector<ValueId>& xs);

std::vector<OpEntry> arithmetic_ops();

}  // namespace heed::ops
