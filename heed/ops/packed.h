// Ops for inference on packed weights (kernels/panels.h). They have no gradients: training changes weights
// every step.
#pragma once

#include "heed/kernels/activation.h"
#include "heed/ops/define.h"

namespace heed::ops {

// The shape of a weight [in, out] when packed.
Shape packed_shape(int64_t in, int64_t out);

struct PackedLinearSettings {
  Activation activation = Activation::kNone;
  int64_t columns = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("activation", activation, "applied after the bias");
    field("columns", columns, "width of the result O; the last panel may be padded");
  }
};

// As linear: y = activation(x W + bias) + residual. x: [..., I], panels: packed_shape(I, O), bias: [O],
// residual: [..., O].
ValueId packed_linear(Graph& graph, ValueId x, ValueId panels, ValueId bias, ValueId residual,
                      PackedLinearSettings settings);

struct PackedEmbeddingSettings {
  int64_t vocabulary = 0;
  double scale = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("vocabulary", vocabulary, "number of tokens V");
    field("scale", scale, "the table's rows are multiplied by it, positions are not");
  }
};

// As embedding, from a table [V, D] that is packed as the output's weight [D, V]. ids: i32 [B, T], panels:
// packed_shape(D, V), positions: [P, D] or kNone, first: i32 [1] or kNone.
ValueId packed_embedding(Graph& graph, ValueId ids, ValueId panels, ValueId positions, ValueId first,
                         PackedEmbeddingSettings settings);

std::vector<OpEntry> packed_ops();

}  // namespace heed::ops
