#include "heed/ops/sru.h"

#include <cmath>

#include "heed/kernels/sru.h"

namespace heed::ops {
namespace {

// Inputs of both ops; the backward op has more after these.
enum Input : size_t {
  kU,
  kX,
  kV,
  kBias,
  kC0,
  kMask,
  kPadding,
  kInputs,
  kC = kInputs,
  kDh,
  kDcLast,
  kBackwardInputs
};

void expect_f32(const Signature& s, size_t input, const Shape& shape, const char* meaning) {
  expect_type(s, input, DType::kF32, shape, meaning);
}

// Checks settings and the inputs both ops have; returns the shape of h.
Shape check(const Signature& s, const SruSettings& settings) {
  expect(settings.slots == 3 || settings.slots == 4, text("slots must be 3 or 4, it is ", settings.slots));
  expect(settings.slots == 3 || settings.skip, "slots 4 has a projected skip, so skip must be true");
  expect(std::isfinite(settings.rescale), text("rescale must be finite, it is ", settings.rescale));
  expect(settings.activation == Activation::kNone || settings.activation == Activation::kTanh,
         text("the activation must be none or tanh, it is ", enum_name(settings.activation)));
  for (size_t i : {kU, kV, kBias}) expect(s.has(i), text("input ", i, " is missing"));
  expect_rank(s, kU, 3, "u");
  expect_dtype(s, kU, DType::kF32, "u");
  const int64_t B = s.in(kU).dim(0), T = s.in(kU).dim(1), D = s.in(kU).dim(2) / settings.slots;
  expect(D >= 1 && s.in(kU).dim(2) == settings.slots * D,
         text("the last dimension of u must be a multiple of slots ", settings.slots, ", u is ",
              s.in(kU).str()));
  expect(!settings.bidirectional || D % 2 == 0, text("two directions need an even width, it is ", D));
  const bool needs_x = settings.skip && settings.slots == 3;
  expect(s.has(kX) == needs_x, needs_x         ? "a skip of 3 slots needs x"
                               : settings.skip ? "slot 3 is the skip, x must be none"
                                               : "without skip x must be none");
  const Shape h{B, T, D};
  if (needs_x) expect_f32(s, kX, h, "x");
  expect_f32(s, kV, {2 * D}, "v");
  expect_f32(s, kBias, {2 * D}, "bias");
  if (s.has(kC0)) expect_f32(s, kC0, {B, D}, "c0");
  if (s.has(kMask)) expect_f32(s, kMask, {B, D}, "mask");
  if (s.has(kPadding)) expect_type(s, kPadding, DType::kI32, {B, T}, "padding");
  return h;
}

kernels::SruInputs arguments(const Run& r, const SruSettings& settings) {
  const Shape& u = r.in(kU).shape();
  return {.batch = u.dim(0),
          .steps = u.dim(1),
          .width = u.dim(2) / settings.slots,
          .slots = settings.slots,
          .tanh = settings.activation == Activation::kTanh,
          .bidirectional = settings.bidirectional,
          .rescale = static_cast<float>(settings.rescale),
          .u = r.in(kU).f32(),
          .x = r.in_or_null(kX),
          .v = r.in(kV).f32(),
          .bias = r.in(kBias).f32(),
          .c0 = r.in_or_null(kC0),
          .mask = r.in_or_null(kMask),
          .padding = r.in(kPadding).i32_or_null()};
}

class Sru : public OpWith<Sru, SruSettings> {
 public:
  static constexpr const char* kKind = "sru";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 1, false}, {1, 4, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// Inputs those of sru, then c (the states), dh and dc_last, either of which may be absent (zeros); outputs
// du, dx (only where x is given), dv, dbias, dc0.
class SruBackward : public OpWith<SruBackward, SruSettings> {
 public:
  static constexpr const char* kKind = "sru_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  float* carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

SruOutputs sru(Graph& graph, const SruInputs& in, SruSettings settings) {
  const auto outputs =
      graph.add(make<Sru>(settings), {in.u, in.x, in.v, in.bias, in.c0, in.mask, in.padding});
  return {outputs[0], outputs[1]};
}

std::vector<TensorType> Sru::infer(const Signature& s) const {
  expect(s.inputs.size() == kInputs,
         text("takes ", +kInputs, " inputs, given or none, ", s.inputs.size(), " given"));
  const Shape h = check(s, settings_);
  std::vector<TensorType> outputs = {{h}, {{h.dim(0), h.dim(2)}}};
  if (settings_.keep_states) outputs.push_back({h});
  return outputs;
}

void Sru::run(const Run& r) const {
  kernels::sru({arguments(r, settings_), r.out(0).f32(), r.out(1).f32(),
                settings_.keep_states ? r.out(2).f32() : nullptr});
}

void Sru::gradient(Gradients& g) const {
  const ValueId dh = g.output_gradient(0), dc_last = g.output_gradient(1);
  if ((!dh && !dc_last) || (settings_.keep_states && g.output_gradient(2))) {
    throw usage_error("sru: the kept states cannot be differentiated, only h and c_last");
  }
  if (g.wants(kMask)) throw usage_error("sru: the mask has no gradient");
  SruSettings kept = settings_;
  kept.keep_states = true;
  const ValueId c = g.extra_output(make<Sru>(kept), 2);
  const auto outputs =
      g.graph().add(make<SruBackward>(settings_),
                    {g.saved(g.input(kU)), g.saved(g.input(kX)), g.input(kV), g.input(kBias), g.input(kC0),
                     g.saved(g.input(kMask)), g.input(kPadding), c, dh, dc_last});
  size_t next = 0;
  g.add(kU, outputs[next++]);
  if (g.input(kX)) g.add(kX, outputs[next++]);
  g.add(kV, outputs[next++]);
  g.add(kBias, outputs[next++]);
  g.add(kC0, outputs[next]);
}

std::vector<TensorType> SruBackward::infer(const Signature& s) const {
  expect(s.inputs.size() == kBackwardInputs,
         text("takes ", +kBackwardInputs, " inputs, given or none, ", s.inputs.size(), " given"));
  const Shape h = check(s, settings_), state{h.dim(0), h.dim(2)};
  expect(s.has(kC), text("input ", +kC, " is missing"));
  expect_f32(s, kC, h, "c");
  if (s.has(kDh)) expect_f32(s, kDh, h, "dh");
  if (s.has(kDcLast)) expect_f32(s, kDcLast, state, "dc_last");
  std::vector<TensorType> outputs = {*s.inputs[kU]};
  if (s.has(kX)) outputs.push_back({h});
  outputs.insert(outputs.end(), {*s.inputs[kV], *s.inputs[kBias], {state}});
  return outputs;
}

float* SruBackward::carve(Carver& carver, const Signature& s) const {
  return carver.take<float>(kernels::sru_partials(s.in(kU).dim(0), s.in(kV).dim(0) / 2));
}

std::vector<Alias> SruBackward::aliases(const Signature& s) const {
  if (s.has(kX)) return {{0, kU, false}, {1, kDh, false}, {1, kX, false}, {4, kDcLast, false}};
  return {{0, kU, false}, {3, kDcLast, false}};
}

void SruBackward::run(const Run& r) const {
  size_t next = 0;
  const auto output = [&] { return r.out(next++).f32(); };
  float* du = output();
  float* dx = r.has(kX) ? output() : nullptr;
  float* dv = output();
  float* dbias = output();
  float* dc0 = output();
  kernels::sru_backward({.in = arguments(r, settings_),
                         .c = r.in(kC).f32(),
                         .dh = r.in_or_null(kDh),
                         .dc_last = r.in_or_null(kDcLast),
                         .du = du,
                         .dx = dx,
                         .dv = dv,
                         .dbias = dbias,
                         .dc0 = dc0,
                         .partial = scratch_of(r)});
}

std::vector<OpEntry> sru_ops() { return {entry<Sru>(), entry<SruBackward>()}; }

}  // namespace heed::ops
