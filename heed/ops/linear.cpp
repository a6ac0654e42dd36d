#include "heed/ops/linear.h"

#include "heed/base/threads.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/activation.h"

namespace heed::ops {
namespace {

Cost product_cost(const Signature& s, int64_t m, int64_t n, int64_t k) {
  return {2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
          static_cast<double>(s.bytes())};
}

class Linear : public OpWith<Linear, LinearSettings> {
 public:
  static constexpr const char* kKind = "linear";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
  ValueId recompute(Graph& graph, int node, size_t output) const override;
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
  float* carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 2, true}}; }
  void run(const Run& run) const override;
};

}  // namespace

ValueId linear(Graph& graph, ValueId x, ValueId weight, ValueId bias, ValueId residual,
               LinearSettings settings) {
  return graph.add(make<Linear>(settings), {x, weight, bias, residual})[0];
}

std::vector<TensorType> Linear::infer(const Signature& s) const {
  expect_inputs(s, 2, 4);
  expect_floats(s);
  expect(s.inputs.size() == 4, "bias and residual must be given or be none");
  expect(s.in(0).rank() >= 1, "x needs at least one dimension");
  expect_rank(s, 1, 2, "weight");
  const int64_t in = s.in(1).dim(settings_.transposed ? 1 : 0),
                out = s.in(1).dim(settings_.transposed ? 0 : 1);
  expect(s.in(0).dim(-1) == in, text("x ", s.in(0).str(), " has width ", s.in(0).dim(-1), ", the weight ",
                                     s.in(1).str(), " takes ", in));
  TensorType y{s.in(0).with_dim(-1, out)};
  if (s.has(2)) expect_shape(s, 2, {out}, "bias");
  if (s.has(3)) expect_shape(s, 3, y.shape, "residual");
  if (settings_.keep_preactivation) return {y, y};
  return {y};
}

Cost Linear::cost(const Signature& s) const {
  return product_cost(s, s.in(0).rows(), s.out(0).dim(-1), s.in(0).dim(-1));
}

std::vector<Alias> Linear::aliases(const Signature&) const {
  // The product is added to the residual in place; an activation in between prevents that.
  if (settings_.activation == Activation::kNone && !settings_.keep_preactivation) return {{0, 3, false}};
  return {};
}

void Linear::run(const Run& r) const {
  const Shape& shape = r.in(0).shape();
  const int64_t M = shape.rows(), I = shape.dim(-1), O = r.out(0).shape().dim(-1);
  float* const y = r.out(0).f32();
  float* const z = settings_.keep_preactivation ? r.out(1).f32() : nullptr;
  const bool in_place = r.has(3) && r.in(3).data == r.out(0).data;
  const float* const bias = r.in_or_null(2);
  const float* const residual = in_place ? nullptr : r.in_or_null(3);
  const kernels::Gemm product{.transpose_b = settings_.transposed,
                              .m = M,
                              .n = O,
                              .k = I,
                              .a = r.in(0).f32(),
                              .lda = I,
                              .b = r.in(1).f32(),
                              .ldb = settings_.transposed ? I : O,
                              .beta = in_place ? 1.f : 0.f,
                              .c = z ? z : y,
                              .ldc = O};
  const bool epilogue = bias || residual || z || settings_.activation != Activation::kNone;
  kernels::gemm(product, [&](const kernels::Tile& tile) {
    if (!epilogue) return;
    const int64_t at = tile.row * O + tile.column;
    kernels::linear_epilogue({settings_.activation, tile.rows, tile.columns, z ? z + at : nullptr,
                              bias ? bias + tile.column : nullptr, residual ? residual + at : nullptr, y + at,
                              O});
  });
}

ValueId Linear::recompute(Graph& graph, int node, size_t output) const {
  // The pre-activation is kept for the backward pass instead of the activation. ReLU keeps its result, which
  // gives its derivative.
  const bool residual = graph.nodes()[static_cast<size_t>(node)].inputs[3].index >= 0;
  if (settings_.activation == Activation::kNone || settings_.activation == Activation::kRelu || output != 0 ||
      residual)
    return kNone;
  LinearSettings kept = settings_;
  kept.keep_preactivation = true;
  return activation(graph, graph.extend_node(node, make<Linear>(kept), 1), settings_.activation);
}

void Linear::gradient(Gradients& g) const {
  const ValueId dy = g.output_gradient(0);
  if (!dy) throw usage_error("linear: the kept pre-activation cannot be differentiated by itself");
  ValueId dz = dy;
  if (settings_.activation == Activation::kRelu && !g.input(3)) {
    dz = activation_backward(g.graph(), g.output(0), dy, settings_.activation);
  } else if (settings_.activation != Activation::kNone) {
    LinearSettings kept = settings_;
    kept.keep_preactivation = true;
    dz = activation_backward(g.graph(), g.extra_output(make<Linear>(kept), 1), dy, settings_.activation);
  }
  if (g.wants(1) || g.wants(2)) {
    const LinearGradientSettings gradient{g.wants(2), settings_.transposed};
    const auto outputs =
        g.graph().add(make<LinearGradient>(gradient), {g.saved(g.input(0)), dz, g.partial(1)});
    if (g.wants(1)) g.set(1, outputs[0]);
    if (g.wants(2)) g.add(2, outputs[1]);
  }
  if (g.wants(0)) {
    g.set(0, linear(g.graph(), dz, g.input(1), kNone, g.partial(0),
                    {Activation::kNone, !settings_.transposed, false}));
  }
  g.add(3, dy);
}

std::vector<TensorType> LinearGradient::infer(const Signature& s) const {
  expect_inputs(s, 2, 3);
  expect_floats(s);
  expect(s.in(0).rows() == s.in(1).rows(),
         text("x ", s.in(0).str(), " and dz ", s.in(1).str(), " differ in rows"));
  const int64_t in = s.in(0).dim(-1), out = s.in(1).dim(-1);
  const TensorType weight{settings_.transposed ? Shape{out, in} : Shape{in, out}};
  if (s.has(2)) expect_shape(s, 2, weight.shape, "the gradient to add to");
  if (settings_.bias) return {weight, TensorType{out}};
  return {weight};
}

Cost LinearGradient::cost(const Signature& s) const {
  return product_cost(s, s.in(0).dim(-1), s.in(1).dim(-1), s.in(0).rows());
}

float* LinearGradient::carve(Carver& carver, const Signature& s) const {
  return carver.take<float>(settings_.bias ? kernels::column_sum_scratch(s.in(1).rows(), s.in(1).dim(-1))
                                           : 0);
}

void LinearGradient::run(const Run& r) const {
  const int64_t M = r.in(0).shape().rows(), I = r.in(0).shape().dim(-1), O = r.in(1).shape().dim(-1);
  const float* x = r.in(0).f32();
  const float* dz = r.in(1).f32();
  kernels::Gemm product{.transpose_a = true, .k = M, .beta = r.has(2) ? 1.f : 0.f, .c = r.out(0).f32()};
  if (settings_.transposed) {  // dW[O, I] = dz^T x
    product.m = O, product.n = I, product.a = dz, product.lda = O, product.b = x, product.ldb = I,
    product.ldc = I;
  } else {  // dW[I, O] = x^T dz
    product.m = I, product.n = O, product.a = x, product.lda = I, product.b = dz, product.ldb = O,
    product.ldc = O;
  }
  kernels::gemm(product);
  if (settings_.bias) kernels::column_sum({M, O, dz, r.out(1).f32(), scratch_of(r)});
}

std::vector<OpEntry> linear_ops() { return {entry<Linear>(), entry<LinearGradient>()}; }

}  // namespace heed::ops
