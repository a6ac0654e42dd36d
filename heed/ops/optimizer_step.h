// Shared by all optimizer steps: the order of their inputs, the shape rule, and writing in place.
//
//   inputs   w, g, the moments (all of one shape), learning_rate [1], step i32 [1] (1 for the first update),
//   and
//            optionally clip [1], which every element of the gradient is multiplied with
//   outputs  w and the moments, in the memory of the inputs
//
// A step of several tensors has all w, then all g, then all first moments, and so on. None has a gradient.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

// Checks of settings; each throws an Error that names the setting.
void expect_share(double value, const char* name);  // at least 0 and below 1
void expect_not_negative(double value, const char* name);

// Indices of inputs and outputs.
struct StepPlaces {
  size_t moments;  // of each tensor
  size_t tensors = 1;

  size_t w(size_t tensor) const { return tensor; }
  size_t g(size_t tensor) const { return tensors + tensor; }
  size_t moment(size_t i, size_t tensor) const { return (2 + i) * tensors + tensor; }
  size_t learning_rate() const { return moment(moments, 0); }
  size_t step() const { return learning_rate() + 1; }
  size_t clip() const { return learning_rate() + 2; }
  size_t new_moment(size_t i, size_t tensor) const { return (1 + i) * tensors + tensor; }  // an output
};
// Of a step with these inputs, for an optimizer that takes any number of tensors.
StepPlaces places_of_tensors(size_t inputs, size_t moments);

// The shape rule.
std::vector<TensorType> infer_step(const Signature& signature, StepPlaces at);
std::vector<Alias> alias_step(StepPlaces at);

// The inputs of a run after the moments.
struct StepInputs {
  StepInputs(const Run& run, StepPlaces at);
  double learning_rate;
  int64_t step;
  float clip;  // 1 if not given
};

// Derived has `static constexpr size_t kMoments` and check(), which validates its settings.
template <class Derived, class Settings>
class OptimizerStep : public OpWith<Derived, Settings> {
 public:
  using OpWith<Derived, Settings>::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override {
    static_cast<const Derived*>(this)->check();
    return infer_step(s, {Derived::kMoments});
  }
  std::vector<Alias> aliases(const Signature&) const override { return alias_step({Derived::kMoments}); }
};

}  // namespace heed::ops
