#include "heed/ops/activation.h"

namespace heed::ops {
namespace {

class Activate : public OpWith<Activate, ActivationSettings> {
 public:
  static constexpr const char* kKind = "activation";
  static constexpr bool kRunAgain = true;
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
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

}  // namespace

ValueId activation(Graph& graph, ValueId x, heed::Activation which) {
  return graph.add_one(make<Activate>({which}), {x});
}

ValueId activation_backward(Graph& graph, ValueId x, ValueId dy, heed::Activation which) {
  return graph.add_one(make<ActivateBackward>({which}), {x, dy});
}

std::vector<TensorType> Activate::infer(const Signature& s) const {
  expect_inputs(s, 1, 1);
  expect_dtype(s, 0, DType::kF32, "x");
  return {*s.inputs[0]};
}

void Activate::run(const Run& r) const {
  kernels::activation_forward(
      {settings_.activation, r.in(0).shape().elements(), r.in(0).f32(), r.out(0).f32()});
}

void Activate::gradient(Gradients& g) const {
  g.add(0, activation_backward(g.graph(), g.saved(g.input(0)), g.output_gradient(0), settings_.activation));
}

std::vector<TensorType> ActivateBackward::infer(const Signature& s) const {
  expect_inputs(s, 2, 2);
  expect_floats(s);
  expect_shape(s, 1, s.in(0), "dy");
  return {*s.inputs[0]};
}

void ActivateBackward::run(const Run& r) const {
  kernels::activation_backward(
      {settings_.activation, r.in(0).shape().elements(), r.in(0).f32(), r.in(1).f32(), r.out(0).f32()});
}

std::vector<OpEntry> activation_ops() { return {entry<Activate>(), entry<ActivateBackward>()}; }

}  // namespace heed::ops
