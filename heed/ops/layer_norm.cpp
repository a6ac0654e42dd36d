#include "heed/ops/layer_norm.h"

#include "heed/kernels/layer_norm.h"

namespace heed::ops {
namespace {

class LayerNorm : public OpWith<LayerNorm, LayerNormSettings> {
 public:
  static constexpr const char* kKind = "layer_norm";
  static constexpr bool kRunAgain = true;
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// Inputs x, gain, dy and optionally a gradient to add; outputs dx, dgain, dbias.
class LayerNormBackward : public OpWith<LayerNormBackward, LayerNormSettings> {
 public:
  static constexpr const char* kKind = "layer_norm_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  float* carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 3, false}, {0, 2, false}}; }
  void run(const Run& run) const override;
};

}  // namespace

ValueId layer_norm(Graph& graph, ValueId x, ValueId gain, ValueId bias, LayerNormSettings settings) {
  return graph.add_one(make<LayerNorm>(settings), {x, gain, bias});
}

std::vector<TensorType> LayerNorm::infer(const Signature& s) const {
  expect_inputs(s, 3, 3);
  expect_floats(s);
  expect(s.in(0).rank() >= 1 && s.in(0).dim(-1) >= 1,
         text("x needs a last dimension of at least 1, it is ", s.in(0).str()));
  expect(settings_.epsilon > 0, text("epsilon must be positive, it is ", settings_.epsilon));
  expect_shape(s, 1, {s.in(0).dim(-1)}, "gain");
  expect_shape(s, 2, {s.in(0).dim(-1)}, "bias");
  return {*s.inputs[0]};
}

void LayerNorm::run(const Run& r) const {
  const Shape& shape = r.in(0).shape();
  kernels::layer_norm({shape.rows(), shape.dim(-1), static_cast<float>(settings_.epsilon), r.in(0).f32(),
                       r.in(1).f32(), r.in(2).f32(), r.out(0).f32()});
}

void LayerNorm::gradient(Gradients& g) const {
  const auto outputs = g.graph().add(make<LayerNormBackward>(settings_),
                                     {g.saved(g.input(0)), g.input(1), g.output_gradient(0), g.partial(0)});
  if (g.wants(0)) g.set(0, outputs[0]);
  g.add(1, outputs[1]);
  g.add(2, outputs[2]);
}

std::vector<TensorType> LayerNormBackward::infer(const Signature& s) const {
  expect_inputs(s, 3, 4);
  expect_floats(s);
  expect_shape(s, 2, s.in(0), "dy");
  if (s.has(3)) expect_shape(s, 3, s.in(0), "the gradient to add");
  return {*s.inputs[0], *s.inputs[1], *s.inputs[1]};
}

float* LayerNormBackward::carve(Carver& carver, const Signature& s) const {
  return carver.take<float>(kernels::layer_norm_partials(s.in(0).rows()) * 2 * s.in(0).dim(-1));
}

void LayerNormBackward::run(const Run& r) const {
  const Shape& shape = r.in(0).shape();
  kernels::layer_norm_backward({shape.rows(), shape.dim(-1), static_cast<float>(settings_.epsilon),
                                r.in(0).f32(), r.in(1).f32(), r.in(2).f32(), r.in_or_null(3), r.out(0).f32(),
                                r.out(1).f32(), r.out(2).f32(), scratch_of(r)});
}

std::vector<OpEntry> layer_norm_ops() { return {entry<LayerNorm>(), entry<LayerNormBackward>()}; }

}  // namespace heed::ops
