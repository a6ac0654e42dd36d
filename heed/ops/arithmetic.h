// Sums, products, scaling and weighted sums of values of one shape.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

ValueId add(Graph& graph, ValueId a, ValueId b);
ValueId mul(Graph& graph, ValueId a, ValueId b);

class Add : public OpWith<Add, NoSettings> {
 public:
  static constexpr const char* kKind = "add";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}, {0, 1, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

class Mul : public OpWith<Mul, NoSettings> {
 public:
  static constexpr const char* kKind = "mul";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}, {0, 1, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct ScaleSettings {
  double factor = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("factor", factor, "a constant");
  }
};

// y = factor * by * x, by: a learned scalar [1] or kNone.
ValueId scale(Graph& graph, ValueId x, double factor, ValueId by = kNone);

class Scale : public OpWith<Scale, ScaleSettings> {
 public:
  static constexpr const char* kKind = "scale";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// *y = factor * <a, b>; the gradient of a learned scalar. Output [1].
class Dot : public OpWith<Dot, ScaleSettings> {
 public:
  static constexpr const char* kKind = "dot";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  void run(const Run& run) const override;
};

// y = sum_i weights[i] * x_i: the layer of a supernet (Mandava and others 2020, equation 6). Inputs weights:
// [n], then x_0 .. x_{n-1} of one shape, at most kernels::kMostMixed of them.
ValueId mix(Graph& graph, ValueId weights, const std::vector<ValueId>& xs);

class Mix : public OpWith<Mix, NoSettings> {
 public:
  static constexpr const char* kKind = "mix";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct MixGradientSettings {
  std::vector<int64_t> indices = {0};
  template <class Visitor>
  void visit(Visitor&& field) {
    field("indices", indices, "which of the mixed values");
  }
};

// The gradients of mixed values, in the order of the indices: weights[index] * dy, plus the gradient so far
// if given. Inputs weights, dy, and for each an optional sum so far.
class MixGradient : public OpWith<MixGradient, MixGradientSettings> {
 public:
  static constexpr const char* kKind = "mix_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
};

// The gradient of the weights: dw[i] = <dy, x_i>. Inputs dy, x_0 .. x_{n-1}.
class MixWeightGradient : public OpWith<MixWeightGradient, NoSettings> {
 public:
  static constexpr const char* kKind = "mix_weight_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
