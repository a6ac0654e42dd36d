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

class Accumulate : public OpWith<Accumulate, AccumulateSettings> {
 public:
  static constexpr const char* kKind = "accumulate";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, true}}; }
  void run(const Run& run) const override;
};

}  // namespace heed::ops
