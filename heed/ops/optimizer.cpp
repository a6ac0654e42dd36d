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

void step(const Run& r, const kernels::Moments& m, const kernels::Direction& d) {
  kernels::adam_step(
      {r.in(0).shape().elements(), m, d, r.in(1).f32(), r.out(0).f32(), r.out(1).f32(), r.out(2).f32()});
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

// direction = m / (sqrt(v) + epsilon) + weight_decay * w;  w -= learning_rate * ratio * direction, where
// ratio is |w| / |direction| over the tensor, 1 if either is 0.
template <class Variant>
class LambStep : public OptimizerStep<LambStep<Variant>, Variant> {
 public:
  static constexpr const char* kKind = Variant::kKind;
  static constexpr size_t kMoments = kTwoMoments;
  using OptimizerStep<LambStep, Variant>::OptimizerStep;
  void check() const {
    check_moments(this->settings_);
    expect_not_negative(this->settings_.norm_limit, "norm_limit");
  }
  Cost cost(const Signature& s) const override;
  double* carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
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
  const StepInputs given(r, kMoments);
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
  const StepInputs given(r, kMoments);
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
Cost LambStep<Variant>::cost(const Signature& s) const {
  // The second pass reads w, m and v again.
  return {0, static_cast<double>(s.bytes() + (this->settings_.ratio ? 3 * s.inputs[0]->bytes() : 0))};
}

template <class Variant>
double* LambStep<Variant>::carve(Carver& carver, const Signature& s) const {
  return carver.take<double>(this->settings_.ratio ? 2 * kernels::square_partials(s.in(0).elements()) : 0);
}

template <class Variant>
void LambStep<Variant>::run(const Run& r) const {
  const LambSettings& s = this->settings_;
  const StepInputs given(r, kMoments);
  const double rate = given.learning_rate;
  const int64_t n = r.in(0).shape().elements();
  const Correction by = correction(s, given.step);
  const double root = 1 / std::sqrt(by.v);
  if (!s.ratio) {  // nothing to wait for: one pass
    step(r, moments(s, given), direction(rate / by.m, root, s.epsilon, rate * s.weight_decay));
    return;
  }
  double w_square = 0, a_square = 0;
  kernels::lamb_moments({n, moments(s, given), direction(1 / by.m, root, s.epsilon, s.weight_decay),
                         r.in(1).f32(), r.out(0).f32(), r.out(1).f32(), r.out(2).f32(), &w_square, &a_square,
                         this->scratch_of(r)});
  // Written so that NaN passes through the comparisons.
  double w_norm = std::sqrt(w_square);
  if (s.norm_limit > 0 && w_norm > s.norm_limit) w_norm = s.norm_limit;
  const double a_norm = std::sqrt(a_square);
  const bool trusted = w_norm != 0 && a_norm != 0;
  const double ratio = trusted ? w_norm / (a_norm + (s.epsilon_in_ratio ? s.epsilon : 0)) : 1;
  kernels::lamb_descend({n, direction(rate * ratio / by.m, root, s.epsilon, rate * ratio * s.weight_decay),
                         r.out(1).f32(), r.out(2).f32(), r.out(0).f32()});
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
