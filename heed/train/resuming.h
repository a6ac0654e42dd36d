// Shared by runs that can be interrupted: checkpoints of variables by name, and a check of the loss.
#pragma once

#include <functional>
#include <optional>

#include "heed/base/error.h"
#include "heed/graph/program.h"
#include "heed/store/checkpoint.h"

namespace heed::train {

// Ends a run when the user asks to stop and everything is saved.
inline Error interrupted_run() { return interrupted_error("interrupted; rerun the same command to resume"); }

// Observes the progress of a run, and may stop it.
class ResumableObserver {
 public:
  virtual ~ResumableObserver() = default;
  virtual void note(const std::string& sentence) = 0;
  virtual bool stop() = 0;
  // Throws if the run should stop; call it when everything is saved.
  void check_stop() {
    if (stop()) throw interrupted_run();
  }
};

// The speed of a run, and when to save it.
class RunClock {
 public:
  RunClock(int64_t first_step, double save_seconds);
  double seconds() const;                             // since it began
  double steps_per_second(int64_t steps_made) const;  // since then
  bool is_time_to_save() const;
  void saved();

 private:
  int64_t first_step_;
  double save_seconds_, begin_, saved_;
};

store::Tensors tensors_of(const graph::NamedTensors& all, const std::vector<std::string>& names);

struct Resumed {
  Json progress;
  std::filesystem::path path;
};
// Fills the variables from the newest complete checkpoint and returns its progress.json, whose "step" must be
// that of the checkpoint; nothing if there is none. Throws if all are damaged. `note` gets what was skipped.
std::optional<Resumed> load_latest(const std::filesystem::path& checkpoints, const store::Tensors& parameters,
                                   const store::Tensors& states,
                                   const std::function<void(const std::string&)>& note);

// The average loss over the last steps, and its lowest value so far.
struct LossAverage {
  double average = 0, lowest = 0;
  // Call after each step, `index` from 0. Throws when the average has risen far: the last checkpoint is still
  // good. `remedy` ends the message.
  void add(int64_t index, double loss, const std::string& remedy);
  template <class Visitor>
  void visit(Visitor&& field) {
    field("average", average, "of the loss over the last steps");
    field("lowest", lowest, "that the average has been");
  }
};

}  // namespace heed::train
