#include "heed/ops/optimizer.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/optimizer.h"

namespace heed::ops {
namespace {

template <class Settings>
kernels::Moments moments(const Settings& s, const Run& r) {
  const float* clip = r.in_or_null(6);
  return {clip ? *clip : 1.f,          0.f,
          static_cast<float>(s.beta1), static_cast<float>(1 - s.beta1),
          static_cast<float>(s.beta2), static_cast<float>(1 - s.beta2)};
}

kernels::Direction direction(double rate, double root, double epsilon, double decay) {
  return {static_cast<float>(rate), static_cast<float>(root), static_cast<float>(epsilon),
          static_cast<float>(decay)};
}

double learning_rate(const Run& r) { return static_cast<double>(*r.in(4).f32()); }

int64_t step_number(const Run& r) {
  const int32_t step = *r.in(5).i32();
  // 1 - beta^0 is 0: everything would become infinite.
  if (step < 1) throw usage_error("optimizer: the step counts from 1, it is ", step);
  return step;
}

// 1 - beta^t, what a moment that started at 0 has seen of the gradients by step t.
double seen(double beta, int64_t t) { return 1 - std::pow(beta, static_cast<double>(t)); }

// What to divide the moments by.
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

void expect_share(double value, const char* name) {
  expect(value >= 0 && value < 1, text(name, " must be at least 0 and below 1, it is ", value));
}

void expect_not_negative(double value, const char* name) {
  expect(value >= 0 && std::isfinite(value), text(name, " must be a number of at least 0, it is ", value));
}

}  // namespace

template <class Derived, class Settings>
std::vector<TensorType> OptimizerStep<Derived, Settings>::infer(const Signature& s) const {
  static constexpr const char* names[] = {"the weights", "the gradient", "the first moment",
                                          "the second moment"};
  expect_inputs(s, 6, 7);
  for (size_t i = 0; i < 4; ++i) {
    expect_dtype(s, i, DType::kF32, names[i]);
    expect_shape(s, i, s.in(0), names[i]);
  }
  expect_dtype(s, 4, DType::kF32, "learning_rate");
  expect_shape(s, 4, {1}, "learning_rate");
  expect_dtype(s, 5, DType::kI32, "step");
  expect_shape(s, 5, {1}, "step");
  if (s.has(6)) {
    expect_dtype(s, 6, DType::kF32, "clip");
    expect_shape(s, 6, {1}, "clip");
  }
  const Settings& settings = this->settings_;
  expect_share(settings.beta1, "beta1");
  expect_share(settings.beta2, "beta2");
  // It keeps 0 / (0 + epsilon) from being NaN, so it has to be positive as a float too.
  expect(static_cast<float>(settings.epsilon) > 0 && std::isfinite(settings.epsilon),
         text("epsilon must be positive, it is ", settings.epsilon));
  expect_not_negative(settings.weight_decay, "weight_decay");
  return {*s.inputs[0], *s.inputs[2], *s.inputs[3]};
}

void Adam::run(const Run& r) const {
  const AdamSettings& s = settings_;
  const double rate = learning_rate(r);
  const Correction by = correction(s, step_number(r));
  kernels::Moments m = moments(s, r);
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
  const double rate = learning_rate(r);
  const Rectification now = rectification(settings_.beta1, settings_.beta2, step_number(r));
  const double decay = rate * settings_.weight_decay;
  kernels::Direction d = direction(rate * now.rate, 1, settings_.epsilon, decay);
  if (!now.rectified) {
    d = settings_.early == EarlySteps::kSkip ? direction(0, 0, 1, 0)
                                             : direction(rate * now.rate, 0, 1, decay);
  }
  step(r, moments(settings_, r), d);
}

template <class Variant>
std::vector<TensorType> LambStep<Variant>::infer(const Signature& s) const {
  expect_not_negative(this->settings_.norm_limit, "norm_limit");
  return OptimizerStep<LambStep, Variant>::infer(s);
}

template <class Variant>
Cost LambStep<Variant>::cost(const Signature& s) const {
  // The second pass reads w, m and v again.
  return {0, static_cast<double>(s.bytes() + (this->settings_.ratio ? 3 * s.inputs[0]->bytes() : 0))};
}

template <class Variant>
int64_t LambStep<Variant>::scratch_bytes(const Signature& s) const {
  return this->settings_.ratio ? 8 * 2 * kernels::square_partials(s.in(0).elements()) : 0;
}

template <class Variant>
void LambStep<Variant>::run(const Run& r) const {
  const LambSettings& s = this->settings_;
  const double rate = learning_rate(r);
  const int64_t n = r.in(0).shape().elements();
  const Correction by = correction(s, step_number(r));
  const double root = 1 / std::sqrt(by.v);
  if (!s.ratio) {  // nothing to wait for: one pass
    step(r, moments(s, r), direction(rate / by.m, root, s.epsilon, rate * s.weight_decay));
    return;
  }
  double w_square = 0, a_square = 0;
  kernels::lamb_moments({n, moments(s, r), direction(1 / by.m, root, s.epsilon, s.weight_decay),
                         r.in(1).f32(), r.out(0).f32(), r.out(1).f32(), r.out(2).f32(), &w_square, &a_square,
                         static_cast<double*>(r.scratch.data)});
  // Comparisons are such that NaN passes through.
  double w_norm = std::sqrt(w_square);
  if (s.norm_limit > 0 && w_norm > s.norm_limit) w_norm = s.norm_limit;
  const double a_norm = std::sqrt(a_square);
  const bool trusted = w_norm != 0 && a_norm != 0;
  const double ratio = trusted ? w_norm / (a_norm + (s.epsilon_in_ratio ? s.epsilon : 0)) : 1;
  kernels::lamb_descend({n, direction(rate * ratio / by.m, root, s.epsilon, rate * ratio * s.weight_decay),
                         r.out(1).f32(), r.out(2).f32(), r.out(0).f32()});
}

template class OptimizerStep<Adam, AdamSettings>;
template class OptimizerStep<RAdam, RAdamSettings>;
template class LambStep<LambSettings>;
template class LambStep<NvLambSettings>;

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
  return {{{1}}, {{1}}};
}

int64_t GlobalNorm::scratch_bytes(const Signature& s) const {
  int64_t largest = 0;
  for (size_t i = 0; i < s.inputs.size(); ++i) largest = std::max(largest, s.in(i).elements());
  return 8 * kernels::square_partials(largest);
}

void GlobalNorm::run(const Run& r) const {
  double total = 0;
  for (const Tensor& gradient : r.inputs) {
    double square = 0;
    kernels::square_sum(
        {gradient.shape().elements(), gradient.f32(), &square, static_cast<double*>(r.scratch.data)});
    total += square;
  }
  const double norm = std::sqrt(total);
  const double share = settings_.limit / (norm + settings_.epsilon);
  // Not std::min, which would turn NaN into 1.
  *r.out(0).f32() = settings_.limit == 0 || share > 1 ? 1.f : static_cast<float>(share);
  *r.out(1).f32() = static_cast<float>(norm);
}

}  // namespace heed::ops
