#pragma once

#include "heed/kernels/activation.h"
#include "heed/ops/define.h"

namespace heed::ops {

struct LinearSettings {
  Activation activation = Activation::kNone;
  bool transposed = false;
  bool keep_preactivation = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("activation", activation, "applied after the bias");
    field("transposed", transposed, "the weight is stored [out, in]");
    field("keep_preactivation", keep_preactivation, "a second output holds x W + bias");
  }
};

// y = activation(x W + bias) + residual. x: [..., I], W: [I, O] (or [O, I] when transposed), bias: [O],
// residual: [..., O]; bias and residual may be kNone. Weights are stored [in, out] because that is the layout
// oneDNN runs fastest on unpacked.
ValueId linear(Graph& graph, ValueId x, ValueId weight, ValueId bias = kNone, ValueId residual = kNone,
               LinearSettings settings = {});

std::vector<OpEntry> linear_ops();

}  // namespace heed::ops
