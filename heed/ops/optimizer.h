// Optimizer steps that keep two moments of the gradient, m and v (optimizer_step.h), and the norm of
// gradients.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct AdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;
  bool bias_correction = true;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("beta1", beta1, "how much of the first moment is kept");
    field("beta2", beta2, "how much of the second moment is kept");
    field("epsilon", epsilon, "added to the root of the second moment");
    field("weight_decay", weight_decay, "decay of the weights towards 0");
    field("decoupled", decoupled,
          "decay the weights themselves (AdamW) instead of adding to the gradient (L2)");
    field("bias_correction", bias_correction, "divide the moments by 1 - beta^step");
  }
};

// What RAdam does in the first steps (five with beta2 = 0.999), while the variance of v cannot be
// rectified.
enum class EarlySteps { kMomentum, kSkip };

struct RAdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  EarlySteps early = EarlySteps::kMomentum;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("beta1", beta1, "how much of the first moment is kept");
    field("beta2", beta2, "how much of the second moment is kept");
    field("epsilon", epsilon, "added to the root of the second moment");
    field("weight_decay", weight_decay, "share of the weights subtracted per step, times the learning rate");
    field("early", early, "steps before the rectification holds: momentum (descend along m) or skip");
  }
};

// The factors of one RAdam step (Liu and others 2020, as used by SRU++): w -= rate * m / (sqrt(v) +
// epsilon), or w -= rate * m if not rectified. Without the learning rate.
struct Rectification {
  double rho;
  bool rectified;  // rho >= 5
  double rate;
};
Rectification rectification(double beta1, double beta2, int64_t step);

// You and others 2020, as in NVIDIA's Transformer-XL. The op has one more setting, layer_ends: where the
// layers end in the elements of all its tensors, one after the other.
struct LambSettings {
  static constexpr const char* kKind = "lamb";
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;
  bool bias_correction = false;
  double norm_limit = 10;
  bool epsilon_in_ratio = true;
  bool ratio = true;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("beta1", beta1, "how much of the first moment is kept");
    field("beta2", beta2, "how much of the second moment is kept");
    field("epsilon", epsilon, "added to the root of the second moment");
    field("weight_decay", weight_decay, "share of the weights added to the direction");
    field("bias_correction", bias_correction, "divide the moments by 1 - beta^step");
    field("norm_limit", norm_limit, "the norm of the weights counts up to this much; 0: no limit");
    field("epsilon_in_ratio", epsilon_in_ratio, "add epsilon to the norm the ratio divides by");
    field("ratio", ratio, "scale the step by |w| / |direction| of the layer");
  }
};

// As in NVIDIA's BERT. Its limit of the gradients is global_norm with limit 1 and epsilon 0,
// given as clip. NVIDIA's PyTorch code takes ratio = false for tensors without decay, its TensorFlow code
// does not.
struct NvLambSettings : LambSettings {
  static constexpr const char* kKind = "nvlamb";
  NvLambSettings() {
    weight_decay = 0.01;
    bias_correction = true;
    norm_limit = 0;
    epsilon_in_ratio = false;
  }
};

struct GlobalNormSettings {
  double limit = 0;
  double epsilon = 1e-6;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("limit", limit, "gradients are scaled down to this norm; 0: never");
    field("epsilon", epsilon, "added to the norm before dividing");
  }
};

struct ClippedNorm {
  ValueId factor;  // [1]: min(1, limit / (norm + epsilon)), NaN if the norm is; 1 if limit is 0
  ValueId norm;    // [1]: NaN or infinite if a gradient is
};

// The L2 norm of all gradients together, and the factor that clips them.
ClippedNorm global_norm(Graph& graph, const std::vector<ValueId>& gradients,
                        GlobalNormSettings settings = {});

std::vector<OpEntry> optimizer_ops();

}  // namespace heed::ops

template <>
struct heed::EnumNames<heed::ops::EarlySteps> {
  static constexpr std::pair<ops::EarlySteps, const char*> names[] = {
      {ops::EarlySteps::kMomentum, "momentum"}, {ops::EarlySteps::kSkip, "skip"}};
};
