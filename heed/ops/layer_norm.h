#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct LayerNormSettings {
  double epsilon = 1e-5;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("epsilon", epsilon, "added to the variance");
  }
};

// Layer norm over the last dimension. x: [..., D], gain and bias: [D].
ValueId layer_norm(Graph& graph, ValueId x, ValueId gain, ValueId bias, LayerNormSettings settings = {});

std::vector<OpEntry> layer_norm_ops();

}  // namespace heed::ops
