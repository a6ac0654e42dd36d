#include "heed/ops/optimizer_step.h"

#include <algorithm>
#include <cmath>

namespace heed::ops {

void expect_share(double value, const char* name) {
  expect(value >= 0 && value < 1, text(name, " must be at least 0 and below 1, it is ", value));
}

void expect_not_negative(double value, const char* name) {
  expect(value >= 0 && std::isfinite(value), text(name, " must be a number of at least 0, it is ", value));
}

StepPlaces places_of_tensors(size_t inputs, size_t moments) {
  // Behind the tensors are learning_rate, step and perhaps clip: fewer inputs than a tensor has.
  return {moments, std::max<size_t>(1, (std::max<size_t>(inputs, 2) - 2) / (2 + moments))};
}

std::vector<TensorType> infer_step(const Signature& s, StepPlaces at) {
  expect_inputs(s, at.clip(), at.clip() + 1);
  for (size_t tensor = 0; tensor < at.tensors; ++tensor) {
    const Shape& shape = s.in(at.w(tensor));
    expect_type(s, at.w(tensor), DType::kF32, shape, "the weights");
    expect_type(s, at.g(tensor), DType::kF32, shape, "the gradient");
    for (size_t i = 0; i < at.moments; ++i)
      expect_type(s, at.moment(i, tensor), DType::kF32, shape, text("moment ", i + 1).c_str());
  }
  expect_type(s, at.learning_rate(), DType::kF32, {1}, "learning_rate");
  expect_type(s, at.step(), DType::kI32, {1}, "step");
  if (s.has(at.clip())) expect_type(s, at.clip(), DType::kF32, {1}, "clip");
  std::vector<TensorType> outputs;
  for (const Alias& alias : alias_step(at)) outputs.push_back(*s.inputs[static_cast<size_t>(alias.input)]);
  return outputs;
}

std::vector<Alias> alias_step(StepPlaces at) {
  std::vector<Alias> aliases;
  const auto in_place = [&](size_t input) {
    aliases.push_back({static_cast<int>(aliases.size()), static_cast<int>(input), true});
  };
  for (size_t tensor = 0; tensor < at.tensors; ++tensor) in_place(at.w(tensor));
  for (size_t i = 0; i < at.moments; ++i) {
    for (size_t tensor = 0; tensor < at.tensors; ++tensor) in_place(at.moment(i, tensor));
  }
  return aliases;
}

StepInputs::StepInputs(const Run& run, StepPlaces at)
    : learning_rate(static_cast<double>(*run.in(at.learning_rate()).f32())), step(*run.in(at.step()).i32()) {
  const float* factor = run.in_or_null(at.clip());
  clip = factor ? *factor : 1.f;
  // 1 - beta^0 is 0: everything would become infinite.
  if (step < 1) throw usage_error("optimizer: the step counts from 1, it is ", step);
}

}  // namespace heed::ops
