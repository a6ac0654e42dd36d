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

class Activate : public OpWith<Activate, ActivationSettings> {
 public:
  static constexpr const char* kKind = "activation";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
  ValueId make_again(Graph& graph, int node, size_t output) const override {
    return run_again(graph, node, output);
  }
};

// Inputs x, dy; output dx.
class ActivateBackward : public OpWith<ActivateBackward, ActivationSettings> {
 public:
  static constexpr const char* kKind = "activation_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 1, false}}; }
  void run(const Run& run) const override;
};

}  // namespace heed::ops
