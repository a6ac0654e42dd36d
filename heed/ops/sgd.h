// Stochastic gradient descent with momentum, as torch.optim.SGD; one moment (optimizer_step.h).
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct SgdSettings {
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("momentum", momentum, "how much of the last direction is kept");
    field("nesterov", nesterov, "look ahead along the direction (Sutskever and others 2013)");
    field("weight_decay", weight_decay, "decay of the weights towards 0, added to the gradient");
  }
};

std::vector<OpEntry> sgd_ops();

}  // namespace heed::ops
