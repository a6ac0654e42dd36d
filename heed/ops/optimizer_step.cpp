#include "heed/ops/optimizer_step.h"

#include <cmath>

namespace heed::ops {

void expect_share(double value, const char* name) {
  expect(value >= 0 && value < 1, text(name, " must be at least 0 and below 1, it is ", value));
}

void expect_not_negative(double value, const char* name) {
  expect(value >= 0 && std::isfinite(value), text(name, " must be a number of at least 0, it is ", value));
}

std::vector<TensorType> infer_step(const Signature& s, size_t moments) {
  const size_t rate = 2 + moments, step = rate + 1, clip = rate + 2;
  expect_inputs(s, clip, clip + 1);
  for (size_t i = 0; i < rate; ++i) {
    const std::string what = i == 0 ? "the weights" : i == 1 ? "the gradient" : text("moment ", i - 1);
    expect_type(s, i, DType::kF32, s.in(0), what.c_str());
  }
  expect_type(s, rate, DType::kF32, {1}, "learning_rate");
  expect_type(s, step, DType::kI32, {1}, "step");
  if (s.has(clip)) {
    expect_type(s, clip, DType::kF32, {1}, "clip");
  }
  std::vector<TensorType> outputs = {*s.inputs[0]};
  for (size_t i = 0; i < moments; ++i) outputs.push_back(*s.inputs[2 + i]);
  return outputs;
}

std::vector<Alias> alias_step(size_t moments) {
  std::vector<Alias> aliases = {{0, 0, true}};
  for (int i = 1; i <= static_cast<int>(moments); ++i) aliases.push_back({i, i + 1, true});
  return aliases;
}

StepInputs::StepInputs(const Run& run, size_t moments)
    : learning_rate(static_cast<double>(*run.in(2 + moments).f32())), step(*run.in(3 + moments).i32()) {
  const float* factor = run.in_or_null(4 + moments);
  clip = factor ? *factor : 1.f;
  // 1 - beta^0 is 0: everything would become infinite.
  if (step < 1) throw usage_error("optimizer: the step counts from 1, it is ", step);
}

}  // namespace heed::ops
