#pragma once

#include "heed/kernels/activation.h"
#include "heed/ops/define.h"

namespace heed::ops {

struct ActivationSettings {
  heed::Activation activation = heed::Activation::kRelu;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("activation", activation, "which one");
  }
};

// y = activation(x), element by element.
ValueId activation(Graph& graph, ValueId x, heed::Activation which);
// dx = dy * activation'(x)
ValueId activation_backward(Graph& graph, ValueId x, ValueId dy, heed::Activation which);

std::vector<OpEntry> activation_ops();

}  // namespace heed::ops
