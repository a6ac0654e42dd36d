// Softmax over the whole vocabulary: losses by row, their mean, log-probabilities.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct SoftmaxLossSettings {
  int64_t chunk_rows = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("chunk_rows", chunk_rows, "rows whose logits exist at once, 0: as many as fit about 48 MiB");
  }
};

// losses[n] = log(sum_v exp(x_n . w_v + bias_v)) - (x_n . w_t + bias_t), t = targets[n]; 0 where the target
// is negative. x: [..., D] of N rows, w: [V, D], bias: [V] or kNone, targets: i32 of N elements. Result: [N].
// Rows with a negative target cost nothing. Throws at run time if a target is V or more.
ValueId softmax_loss(Graph& graph, ValueId x, ValueId w, ValueId bias, ValueId targets,
                     SoftmaxLossSettings settings = {});

// The mean of the losses whose target is not negative, 0 if there are none. losses: [N], targets: i32 of N
// elements. Result: [1].
ValueId mean_loss(Graph& graph, ValueId losses, ValueId targets);

// [N, V]: the logarithm of softmax(x w^T + bias). For generation; no gradient.
ValueId log_probabilities(Graph& graph, ValueId x, ValueId w, ValueId bias = kNone);

std::vector<OpEntry> softmax_loss_ops();

}  // namespace heed::ops
