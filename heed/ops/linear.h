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

class Linear : public OpWith<Linear, LinearSettings> {
 public:
  static constexpr const char* kKind = "linear";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
  ValueId make_again(Graph& graph, int node, size_t output) const override;
};

struct LinearGradientSettings {
  bool bias = false;
  bool transposed = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("bias", bias, "a second output holds the bias gradient");
    field("transposed", transposed, "the weight is stored [out, in]");
  }
};

// Inputs x: [..., I], dz: [..., O], optionally the weight gradient so far; outputs dW, as the weight is
// stored, and dbias.
class LinearGradient : public OpWith<LinearGradient, LinearGradientSettings> {
 public:
  static constexpr const char* kKind = "linear_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 2, true}}; }
  void run(const Run& run) const override;
};

}  // namespace heed::ops
