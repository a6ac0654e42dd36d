// What runs that can be interrupted share: checkpoints of variables by name, and a watch on the loss.
#pragma once

#include <functional>
#include <optional>

#include "heed/graph/program.h"
#include "heed/store/checkpoint.h"

namespace heed::train {

store::Tensors tensors_of(const graph::Variables& variables, const std::vector<std::string>& names);

struct Resumed {
  Json progress;
  std::filesystem::path path;
};
// Fills the variables from the newest whole checkpoint and returns what progress.json says there, whose
// "step" must be that of the checkpoint; nothing if there is none. All damaged: an Error. `note` is told what
// was skipped.
std::optional<Resumed> load_latest(const std::filesystem::path& checkpoints, const store::Tensors& parameters,
                                   const store::Tensors& states,
                                   const std::function<void(const std::string&)>& note);

// The loss over the last steps, and the lowest that this average has been.
struct LossAverage {
  double average = 0, lowest = 0;
  // After each step, `index` from 0. An Error when the average has risen far: what was good is in the last
  // checkpoint. `remedy` ends the message.
  void add(int64_t index, double loss, const std::string& remedy);
};

}  // namespace heed::train
