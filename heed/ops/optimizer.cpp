#include "heed/ops/optimizer.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/optimizer.h"
#include "heed/ops/optimizer_step.h"

namespace heed::ops {
namespace {

constexpr size_t kTwoMoments = 2;

template <class Settings>
kernels::Moments moments(const Settings& s, const StepInputs& given) {
  return {given.clip,
          0.f,
          static_cast<float>(s.beta1),
          static_cast<float>(1 - s.beta1),
          static_cast<float>(s.beta2),
          static_cast<float>(1 - s.beta2)};
}

kernels::Direction direction(double rate, double root, double epsilon, double decay) {
  return {static_cast<float>(rate), static_cast<float>(root), static_cast<float>(epsilon),
          static_cast<float>(decay)};
}

// 1 - beta^t: the weight of the gradients in a moment that started at 0, at step t.
double seen(double beta, int64_t t) { return 1 - std::pow(beta, static_cast<double>(t)); }

// The divisors of the moments.
struct Correction {
  double m = 1, v = 1;
};

template <class Settings>
Correction correction(const Settings& s, int64_t t) {
  return s.bias_correction ? Correction{seen(s.beta1, t), seen(s.beta2, t)} : Correction{};
}

// A piece of a tensor: its gradient, and what the step updates.
struct Piece {
  int64_t n;
  const float* g;
  float *w, *m, *v;
};

Piece piece_of(const Run& r, StepPlaces at, size_t tensor, int64_t begin, int64_t end) {
  return {end - begin, r.in(at.g(tensor)).f32() + begin, r.out(at.w(tensor)).f32() + begin,
          r.out(at.new_moment(0, tensor)).f32() + begin, r.out(at.new_moment(1, tensor)).f32() + begin};
}

void step(const Run& r, const kernels::Moments& m, const kernels::Direction& d, size_t tensors = 1) {
  const StepPlaces at{kTwoMoments, tensors};
  for (size_t tensor = 0; tensor < tensors; ++tensor) {
    const Piece p = piece_of(r, at, tensor, 0, r.in(at.w(tensor)).shape().elements());
    kernels::adam_step({p.n, m, d, p.g, p.w, p.m, p.v});
  }
}

// body(piece) for each piece of a layer: the elements from `begin` to `end` of all tensors, one after the
// other.
template <class Body>
void for_pieces(const Run& r, StepPlaces at, int64_t begin, int64_t end, const Body& body) {
  int64_t first = 0;  // of the tensor
  for (size_t tensor = 0; tensor < at.tensors; ++tensor) {
    const int64_t last = first + r.in(at.w(tensor)).shape().elements();
    const int64_t from = std::max(begin, first), to = std::min(end, last);
    if (from < to) body(piece_of(r, at, tensor, from - first, to - first));
    first = last;
  }
}

template <class Settings>
void check_moments(const Settings& settings) {
  expect_share(settings.beta1, "beta1");
  expect_share(settings.beta2, "beta2");
  // It keeps 0 / (0 + epsilon) from being NaN, so it must be positive as a float too.
  expect(static_cast<float>(settings.epsilon) > 0 && std::isfinite(settings.epsilon),
         text("epsilon must be positive, it is ", settings.epsilon));
  expect_not_negative(settings.weight_decay, "weight_decay");
}

// Kingma and Ba 2015; decoupled: Loshchilov and Hutter 2019. As torch.optim.Adam and AdamW; without bias
// correction as in BERT's fine-tuning.
class Adam : public OptimizerStep<Adam, AdamSettings> {
 public:
  static constexpr const char* kKind = "adam";
  static constexpr size_t kMoments = kTwoMoments;
  using OptimizerStep::OptimizerStep;
  void check() const { check_moments(settings_); }
  void run(const Run& run) const override;
};

// Decay is decoupled.
class RAdam : public OptimizerStep<RAdam, RAdamSettings> {
 public:
  static constexpr const char* kKind = "radam";
  static constexpr size_t kMoments = kTwoMoments;
  using OptimizerStep::OptimizerStep;
  void check() const { check_moments(settings_); }
  void run(const Run& run) const override;
};

template <class Variant>
struct LambStepSettings : Variant {
  std::vector<int64_t> layer_ends = {};
  template <class Visitor>
  void visit(Visitor&& field) {
    Variant::visit(field);
    field("layer_ends", layer_ends,
          "where layers end in the elements of all tensors, one after the other; empty: they are one layer");
  }
};

// direction = m / (sqrt(v) + epsilon) + weight_decay * w;  w -= learning_rate * ratio * direction, where
// ratio is |w| / |direction| over the layer, 1 if either is 0. Takes any number of tensors.
template <class Variant>
class LambStep : public OpWith<LambStep<Variant>, LambStepSettings<Variant>> {
 public:
  static constexpr const char* kKind = Variant::kKind;
  using OpWith<LambStep, LambStepSettings<Variant>>::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature& s) const override { return alias_step(places(s)); }
  Cost cost(const Signature& s) const override;
  double* carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;

 private:
  static StepPlaces places(const Signature& s) { return places_of_tensors(s.inputs.size(), kTwoMoments); }
  static int64_t elements(const Signature& s);  // of all tensors
};
using Lamb = LambStep<LambSettings>;
using NvLamb = LambStep<NvLambSettings>;

class GlobalNorm : public OpWith<GlobalNorm, GlobalNormSettings> {
 public:
  static constexpr const char* kKind = "global_norm";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  double* carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
};

}  // namespace

void Adam::run(const Run& r) const {
  const AdamSettings& s = settings_;
  const StepInputs given(r, {kMoments});
  const double rate = given.learning_rate;
  const Correction by = correction(s, given.step);
  kernels::Moments m = moments(s, given);
  if (!s.decoupled) m.l2 = static_cast<float>(s.weight_decay);
  const double decay = s.decoupled ? rate * s.weight_decay : 0;
  step(r, m, direction(rate / by.m, 1 / std::sqrt(by.v), s.epsilon, decay));
}

Rectification rectification(double beta1, double beta2, int64_t t) {
  const double seen2 = seen(beta2, t);
  const double rho_end = 2 / (1 - beta2) - 1;
  const double rho = rho_end - 2 * static_cast<double>(t) * (1 - seen2) / seen2;
  if (rho < 5) return {rho, false, 1 / seen(beta1, t)};
  const double rect = std::sqrt((rho - 4) * (rho - 2) * rho_end / ((rho_end - 4) * (rho_end - 2) * rho));
  return {rho, true, rect * std::sqrt(seen2) / seen(beta1, t)};
}

void RAdam::run(const Run& r) const {
  const StepInputs given(r, {kMoments});
  const double rate = given.learning_rate;
  const Rectification now = rectification(settings_.beta1, settings_.beta2, given.step);
  const double decay = rate * settings_.weight_decay;
  kernels::Direction d = direction(rate * now.rate, 1, settings_.epsilon, decay);
  if (!now.rectified) {
    d = settings_.early == EarlySteps::kSkip ? direction(0, 0, 1, 0)
                                             : direction(rate * now.rate, 0, 1, decay);
  }
  step(r, moments(settings_, given), d);
}

template <class Variant>
int64_t LambStep<Variant>::elements(const Signature& s) {
  const StepPlaces at = places(s);
  int64_t all = 0;
  for (size_t tensor = 0; tensor < at.tensors; ++tensor) all += s.in(at.w(tensor)).elements();
  return all;
}

template <class Variant>
std::vector<TensorType> LambStep<Variant>::infer(const Signature& s) const {
  check_moments(this->settings_);
  expect_not_negative(this->settings_.norm_limit, "norm_limit");
  auto outputs = infer_step(s, places(s));
  int64_t before = 0;
  for (const int64_t end : this->settings_.layer_ends) {
    expect(end > before, text("layer_ends must be positive and ascend, ", end, " follows ", before));
    before = end;
  }
  expect(before == 0 || before == elements(s),
         text("the last of layer_ends is ", before, ", the tensors have ", elements(s), " elements"));
  return outputs;
}

template <class Variant>
Cost LambStep<Variant>::cost(const Signature& s) const {
  // The second pass reads w, m and v again.
  const int64_t weights = elements(s) * static_cast<int64_t>(sizeof(float));
  return {0, static_cast<double>(s.bytes() + (this->settings_.ratio ? 3 * weights : 0))};
}

template <class Variant>
double* LambStep<Variant>::carve(Carver& carver, const Signature& s) const {
  int64_t largest = 0;
  for (size_t tensor = 0; tensor < places(s).tensors; ++tensor)
    largest = std::max(largest, s.in(places(s).w(tensor)).elements());
  return carver.take<double>(this->settings_.ratio ? 2 * kernels::square_partials(largest) : 0);
}

template <class Variant>
void LambStep<Variant>::run(const Run& r) const {
  const LambStepSettings<Variant>& s = this->settings_;
  const StepPlaces at = places(*r.signature);
  const StepInputs given(r, at);
  const double rate = given.learning_rate;
  const Correction by = correction(s, given.step);
  const double root = 1 / std::sqrt(by.v);
  const kernels::Moments by_gradient = moments(s, given);
  if (!s.ratio) {  // nothing to wait for: one pass
    step(r, by_gradient, direction(rate / by.m, root, s.epsilon, rate * s.weight_decay), at.tensors);
    return;
  }
  const kernels::Direction unscaled = direction(1 / by.m, root, s.epsilon, s.weight_decay);
  const std::vector<int64_t> one_layer = {elements(*r.signature)};
  int64_t begin = 0;
  for (const int64_t end : s.layer_ends.empty() ? one_layer : s.layer_ends) {
    double w_square = 0, a_square = 0;
    for_pieces(r, at, begin, end, [&](const Piece& p) {
      double w_part = 0, a_part = 0;
      kernels::lamb_moments(
          {p.n, by_gradient, unscaled, p.g, p.w, p.m, p.v, &w_part, &a_part, this->scratch_of(r)});
      w_square += w_part;
      a_square += a_part;
    });
    // Written so that NaN passes through the comparisons.
    double w_norm = std::sqrt(w_square);
    if (s.norm_limit > 0 && w_norm > s.norm_limit) w_norm = s.norm_limit;
    const double a_norm = std::sqrt(a_square);
    const bool trusted = w_norm != 0 && a_norm != 0;
    const double ratio = trusted ? w_norm / (a_norm + (s.epsilon_in_ratio ? s.epsilon : 0)) : 1;
    const kernels::Direction scaled =
        direction(rate * ratio / by.m, root, s.epsilon, rate * ratio * s.weight_decay);
    for_pieces(r, at, begin, end, [&](const Piece& p) {
      kernels::lamb_descend({p.n, scaled, p.m, p.v, p.w});
    });
    begin = end;
  }
}

ClippedNorm global_norm(Graph& graph, const std::vector<ValueId>& gradients, GlobalNormSettings settings) {
  const auto outputs = graph.add(make<GlobalNorm>(settings), gradients);
  return {outputs[0], outputs[1]};
}

std::vector<TensorType> GlobalNorm::infer(const Signature& s) const {
  expect(!s.inputs.empty(), "needs at least one gradient");
  expect_inputs(s, s.inputs.size(), s.inputs.size());
  for (size_t i = 0; i < s.inputs.size(); ++i) expect_dtype(s, i, DType::kF32, "each gradient");
  expect_not_negative(settings_.limit, "limit");
  expect_not_negative(settings_.epsilon, "epsilon");
  return {TensorType{1}, TensorType{1}};
}

double* GlobalNorm::carve(Carver& carver, const Signature& s) const {
  int64_t largest = 0;
  for (size_t i = 0; i < s.inputs.size(); ++i) largest = std::max(largest, s.in(i).elements());
  return carver.take<double>(kernels::square_partials(largest));
}

void GlobalNorm::run(const Run& r) const {
  double* const partial = scratch_of(r);
  double total = 0;
  for (const Tensor& gradient : r.inputs) {
    double square = 0;
    kernels::square_sum({gradient.shape().elements(), gradient.f32(), &square, partial});
    total += square;
  }
  const double norm = std::sqrt(total);
  const double share = settings_.limit / (norm + settings_.epsilon);
  // Not std::min, which would turn NaN into 1.
  *r.out(0).f32() = settings_.limit == 0 || share > 1 ? 1.f : static_cast<float>(share);
  *r.out(1).f32() = static_cast<float>(norm);
}

std::vector<OpEntry> optimizer_ops() {
  return {entry<Adam>(), entry<GlobalNorm>(), entry<Lamb>(), entry<NvLamb>(), entry<RAdam>()};
}

}  // namespace heed::ops
