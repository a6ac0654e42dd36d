#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct DropoutSettings {
  double rate = 0;
  int64_t stream = 0;
  bool variational = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("rate", rate, "share of elements dropped");
    field("stream", stream, "number of this op's stream of random numbers");
    field("variational", variational, "one mask for all positions of a sequence; x is [B, T, D]");
  }
};

// Zeroes a share of the elements and scales the rest (kernels/dropout.h). rng: i32 [4], seed and step. The
// backward pass recomputes the same mask. With rate 0 no node is added.
ValueId dropout(Graph& graph, ValueId x, ValueId rng, DropoutSettings settings);

struct DropoutMaskSettings {
  std::vector<int64_t> shape = {1};
  double rate = 0;
  int64_t stream = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("shape", shape, "of the mask");
    field("rate", rate, "share of elements dropped");
    field("stream", stream, "number of this op's stream of random numbers");
  }
};

// The mask itself, 0 or 1 / (1 - rate), for ops that take one (sru).
ValueId dropout_mask(Graph& graph, ValueId rng, DropoutMaskSettings settings);

std::vector<OpEntry> dropout_ops();

}  // namespace heed::ops
