#include "heed/ops/dropout.h"

#include "heed/kernels/dropout.h"

namespace heed::ops {
namespace {

void check(const Signature& s, size_t rng, double rate) {
  expect(rate >= 0 && rate < 1, text("rate must be in [0, 1), it is ", rate));
  expect_type(s, rng, DType::kI32, {4}, "rng");
}

class Dropout : public OpWith<Dropout, DropoutSettings> {
 public:
  static constexpr const char* kKind = "dropout";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  float* carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

class DropoutMask : public OpWith<DropoutMask, DropoutMaskSettings> {
 public:
  static constexpr const char* kKind = "dropout_mask";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId dropout(Graph& graph, ValueId x, ValueId rng, DropoutSettings settings) {
  return settings.rate == 0 ? x : graph.add_one(make<Dropout>(settings), {x, rng});
}

std::vector<TensorType> Dropout::infer(const Signature& s) const {
  expect_inputs(s, 2, 2);
  expect_dtype(s, 0, DType::kF32, "x");
  if (settings_.variational) expect_rank(s, 0, 3, "x");
  check(s, 1, settings_.rate);
  return {*s.inputs[0]};
}

// One mask per sequence, [B, D].
float* Dropout::carve(Carver& carver, const Signature& s) const {
  return carver.take<float>(settings_.variational ? s.in(0).dim(0) * s.in(0).dim(2) : 0);
}

void Dropout::run(const Run& r) const {
  const auto rate = static_cast<float>(settings_.rate);
  const auto stream = static_cast<uint32_t>(settings_.stream);
  const Shape& shape = r.in(0).shape();
  if (settings_.variational) {
    kernels::variational_dropout({shape.dim(0), shape.dim(1), shape.dim(2), rate, stream, r.in(1).i32(),
                                  r.in(0).f32(), r.out(0).f32(), scratch_of(r)});
  } else {
    kernels::dropout({shape.elements(), rate, stream, r.in(1).i32(), r.in(0).f32(), r.out(0).f32()});
  }
}

void Dropout::gradient(Gradients& g) const {
  g.add(0, dropout(g.graph(), g.output_gradient(0), g.input(1), settings_));
}

ValueId dropout_mask(Graph& graph, ValueId rng, DropoutMaskSettings settings) {
  return graph.add_one(make<DropoutMask>(std::move(settings)), {rng});
}

std::vector<TensorType> DropoutMask::infer(const Signature& s) const {
  expect_inputs(s, 1, 1);
  check(s, 0, settings_.rate);
  return {{Shape(settings_.shape)}};
}

void DropoutMask::run(const Run& r) const {
  kernels::dropout({r.out(0).shape().elements(), static_cast<float>(settings_.rate),
                    static_cast<uint32_t>(settings_.stream), r.in(0).i32(), nullptr, r.out(0).f32()});
}

std::vector<OpEntry> dropout_ops() { return {entry<Dropout>(), entry<DropoutMask>()}; }

}  // namespace heed::ops
