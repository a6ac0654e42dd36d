#include "heed/ops/arithmetic.h"

#include "heed/kernels/elementwise.h"

namespace heed::ops {
namespace {

std::vector<TensorType> same_shape(const Signature& s, size_t inputs) {
  expect_inputs(s, inputs, inputs);
  for (size_t i = 0; i < inputs; ++i) {
    expect_type(s, i, DType::kF32, s.in(0), "each value");
  }
  return {*s.inputs[0]};
}

kernels::Binary binary(const Run& r) {
  return {r.out(0).shape().elements(), r.in(0).f32(), r.in(1).f32(), r.out(0).f32()};
}

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
  double* carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
};

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
  double* carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
};

}  // namespace

ValueId add(Graph& graph, ValueId a, ValueId b) { return graph.add_one(make<Add>(), {a, b}); }

std::vector<TensorType> Add::infer(const Signature& s) const { return same_shape(s, 2); }

void Add::run(const Run& r) const { kernels::add(binary(r)); }

void Add::gradient(Gradients& g) const {
  g.add(0, g.output_gradient(0));
  g.add(1, g.output_gradient(0));
}

ValueId mul(Graph& graph, ValueId a, ValueId b) { return graph.add_one(make<Mul>(), {a, b}); }

std::vector<TensorType> Mul::infer(const Signature& s) const { return same_shape(s, 2); }

void Mul::run(const Run& r) const { kernels::multiply(binary(r)); }

void Mul::gradient(Gradients& g) const {
  if (g.wants(0)) g.add(0, mul(g.graph(), g.output_gradient(0), g.saved(g.input(1))));
  if (g.wants(1)) g.add(1, mul(g.graph(), g.output_gradient(0), g.saved(g.input(0))));
}

ValueId scale(Graph& graph, ValueId x, double factor, ValueId by) {
  return graph.add_one(make<Scale>({factor}), {x, by});
}

std::vector<TensorType> Scale::infer(const Signature& s) const {
  expect_inputs(s, 1, 2);
  expect_floats(s);
  if (s.has(1)) expect_shape(s, 1, {1}, "the scalar");
  return {*s.inputs[0]};
}

void Scale::run(const Run& r) const {
  kernels::scale({r.out(0).shape().elements(), static_cast<float>(settings_.factor), r.in_or_null(1),
                  r.in(0).f32(), r.out(0).f32(), false});
}

void Scale::gradient(Gradients& g) const {
  if (g.wants(0)) g.add(0, scale(g.graph(), g.output_gradient(0), settings_.factor, g.input(1)));
  if (g.wants(1))
    g.add(1, g.graph().add_one(make<Dot>(settings_), {g.output_gradient(0), g.saved(g.input(0))}));
}

std::vector<TensorType> Dot::infer(const Signature& s) const {
  same_shape(s, 2);
  return {TensorType{1}};
}

double* Dot::carve(Carver& carver, const Signature& s) const {
  return carver.take<double>(kernels::dot_partials(s.in(0).elements()));
}

void Dot::run(const Run& r) const {
  kernels::dot({r.in(0).shape().elements(), static_cast<float>(settings_.factor), r.in(0).f32(),
                r.in(1).f32(), r.out(0).f32(), scratch_of(r)});
}

ValueId mix(Graph& graph, ValueId weights, const std::vector<ValueId>& xs) {
  std::vector<ValueId> inputs = {weights};
  inputs.insert(inputs.end(), xs.begin(), xs.end());
  return graph.add_one(make<Mix>(), std::move(inputs));
}

std::vector<TensorType> Mix::infer(const Signature& s) const {
  expect(s.inputs.size() >= 2,
         text("needs weights and at least one value, ", s.inputs.size(), " inputs given"));
  expect_inputs(s, s.inputs.size(), s.inputs.size());
  expect_floats(s);
  expect_shape(s, 0, {static_cast<int64_t>(s.inputs.size()) - 1}, "weights");
  expect(s.inputs.size() <= kernels::kMostMixed + 1,
         text("mixes ", kernels::kMostMixed, " values at most, ", s.inputs.size() - 1, " given"));
  for (size_t i = 2; i < s.inputs.size(); ++i) expect_shape(s, i, s.in(1), "each value");
  return {*s.inputs[1]};
}

void Mix::run(const Run& r) const {
  kernels::Mix mix{r.out(0).shape().elements(), r.inputs.size() - 1, r.in(0).f32(), {}, r.out(0).f32()};
  for (size_t i = 0; i < mix.count; ++i) mix.xs[i] = r.in(i + 1).f32();
  kernels::mix(mix);
}

void Mix::gradient(Gradients& g) const {
  const ValueId dy = g.output_gradient(0);
  MixGradientSettings settings{{}};
  std::vector<ValueId> xs = {dy}, inputs = {g.input(0), dy};
  std::vector<bool> again;  // mixed before: its gradients are summed by separate nodes
  for (size_t i = 1; g.input(i); ++i) {
    if (g.wants(0)) xs.push_back(g.saved(g.input(i)));
    if (!g.wants(i)) continue;
    settings.indices.push_back(static_cast<int64_t>(i) - 1);
    again.push_back(false);
    for (size_t j = 1; j < i; ++j) again.back() = again.back() || g.input(j) == g.input(i);
    inputs.push_back(again.back() ? kNone : g.partial(i));
  }
  if (!again.empty()) {
    const std::vector<ValueId> gradients = g.graph().add(make<MixGradient>(settings), inputs);
    for (const bool last : {false, true}) {
      for (size_t k = 0; k < again.size(); ++k) {
        const auto input = static_cast<size_t>(settings.indices[k]) + 1;
        if (again[k] == last) last ? g.add(input, gradients[k]) : g.set(input, gradients[k]);
      }
    }
  }
  if (g.wants(0)) g.add(0, g.graph().add_one(make<MixWeightGradient>(), std::move(xs)));
}

std::vector<TensorType> MixGradient::infer(const Signature& s) const {
  const size_t count = settings_.indices.size();
  expect_inputs(s, 2, 2 + count);
  expect_floats(s);
  expect_rank(s, 0, 1, "weights");
  expect(count <= kernels::kMostMixed, text(count, " gradients of ", kernels::kMostMixed, " at most"));
  for (size_t k = 0; k < count; ++k) {
    expect(settings_.indices[k] >= 0 && settings_.indices[k] < s.in(0).dim(0),
           text("index ", settings_.indices[k], " of ", s.in(0).str()));
    if (s.has(2 + k)) expect_shape(s, 2 + k, s.in(1), "the gradient to add to");
  }
  return std::vector<TensorType>(count, *s.inputs[1]);
}

std::vector<Alias> MixGradient::aliases(const Signature& s) const {
  std::vector<Alias> all;
  int alone = -1;  // one without a sum so far may use the memory of dy
  for (int k = 0; k < static_cast<int>(settings_.indices.size()); ++k) {
    if (s.has(static_cast<size_t>(2 + k))) {
      all.push_back({k, 2 + k, true});
    } else {
      alone = k;
    }
  }
  if (alone >= 0) all.push_back({alone, 1, false});
  return all;
}

void MixGradient::run(const Run& r) const {
  kernels::MixGradient m{r.in(1).shape().elements(), r.outputs.size(), {}, r.in(1).f32(), {}, {}};
  for (size_t k = 0; k < m.count; ++k) {
    m.weights[k] = r.in(0).f32()[settings_.indices[k]];
    m.so_far[k] = r.has(2 + k) ? r.in(2 + k).f32() : nullptr;
    m.dxs[k] = r.out(k).f32();
  }
  kernels::mix_gradient(m);
}

std::vector<TensorType> MixWeightGradient::infer(const Signature& s) const {
  expect(s.inputs.size() >= 2, "needs dy and at least one value");
  same_shape(s, s.inputs.size());
  return {TensorType{static_cast<int64_t>(s.inputs.size()) - 1}};
}

double* MixWeightGradient::carve(Carver& carver, const Signature& s) const {
  return carver.take<double>(kernels::dot_partials(s.in(0).elements()));
}

void MixWeightGradient::run(const Run& r) const {
  double* const partial = scratch_of(r);
  for (size_t i = 1; i < r.inputs.size(); ++i) {
    kernels::dot(
        {r.in(0).shape().elements(), 1.f, r.in(0).f32(), r.in(i).f32(), r.out(0).f32() + i - 1, partial});
  }
}

std::vector<OpEntry> arithmetic_ops() {
  return {entry<Add>(),
          entry<Mul>(),
          entry<Scale>(),
          entry<Dot>(),
          entry<Mix>(),
          entry<MixGradient>(),
          entry<MixWeightGradient>()};
}

}  // namespace heed::ops
