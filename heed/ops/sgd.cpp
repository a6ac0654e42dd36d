#include "heed/ops/sgd.h"

#include "heed/kernels/optimizer.h"
#include "heed/ops/optimizer_step.h"

namespace heed::ops {
namespace {

class Sgd : public OptimizerStep<Sgd, SgdSettings> {
 public:
  static constexpr const char* kKind = "sgd";
  static constexpr size_t kMoments = 1;
  using OptimizerStep::OptimizerStep;
  void check() const {
    expect_share(settings_.momentum, "momentum");
    expect_not_negative(settings_.weight_decay, "weight_decay");
  }
  void run(const Run& r) const override {
    const StepInputs given(r, {kMoments});
    kernels::sgd_step({r.in(0).shape().elements(), given.clip, static_cast<float>(settings_.weight_decay),
                       static_cast<float>(settings_.momentum), static_cast<float>(given.learning_rate),
                       settings_.nesterov, r.in(1).f32(), r.out(0).f32(), r.out(1).f32()});
  }
};

}  // namespace

std::vector<OpEntry> sgd_ops() { return {entry<Sgd>()}; }

}  // namespace heed::ops
