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

// The same number everywhere: the seed of a gradient.
ValueId constant(Graph& graph, std::vector<int64_t> shape, double value);

class Constant : public OpWith<Constant, ConstantSettings> {
 public:
  static constexpr const char* kKind = "constant";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
