// Shared by all optimizer steps: the order of their inputs, the shape rule, and writing in place.
//
//   inputs   w, g, the moments (all of one shape), learning_rate [1], step i32 [1] (1 for the first update),
//   and
//            optionally clip [1], which every element of the gradient is multiplied with
//   outputs  w and the moments, in the memory of the inputs
//
// None has a gradient.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

// Checks of settings; each throws an Error that names the setting.
void expect_share(double value, const char* name);  // at least 0 and below 1
void expect_not_negative(double value, const char* name);

// The shape rule for this many moments.
std::vector<TensorType> infer_step(const Signature& signature, size_t moments);
std::vector<Alias> alias_step(size_t moments);

// The inputs of a run after the moments.
struct StepInputs {
  StepInputs(const Run& run, size_t moments);
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
    return infer_step(s, Derived::kMoments);
  }
  std::vector<Alias> aliases(const Signature&) const override { return alias_step(Derived::kMoments); }
};

}  // namespace heed::ops
