// Where a training run is: what its checkpoints say besides weights and states.
#pragma once

#include <filesystem>

#include "heed/spec/recipe.h"
#include "heed/train/resuming.h"
#include "heed/train/time_plan.h"

namespace heed::train {

struct Progress {
  int64_t step = 0;
  LossAverage loss;
  double best = 0;  // of the metric that decides, on the valid part
  int64_t best_step = 0;
  int64_t without_best = 0;          // evaluations since then
  double seconds = 0;                // spent in steps
  bool owed = false;                 // the evaluation of this step was interrupted
  double whole_seconds = 0;          // since the beginning, without what was lost
  Json plan;                         // of a run that has a time (TimePlan)
  int64_t steps_at_end_of_time = 0;  // of the schedule, when the time was up; 0 if it is not

  bool has_no_time(int64_t steps) const { return steps_at_end_of_time == steps; }
  // For a schedule of so many steps. If that is another one than when the time was up, each update counts as
  // one again.
  TimePlan plan_of(int64_t steps, const std::string& what) const {
    const bool longer = steps_at_end_of_time > 0 && !has_no_time(steps);
    return TimePlan(steps, longer ? Json() : plan, what);
  }
  bool is_at_end(int64_t steps, const std::string& what) const {
    return has_no_time(steps) || step >= plan_of(steps, what).last();
  }
  template <class Visitor>
  void visit(Visitor&& field) {
    field("step", step, "updates made");
    loss.visit(field);
    field("best", best, "value of the metric that decides, on the valid part");
    field("best_step", best_step, "when that was");
    field("without_best", without_best, "evaluations since then");
    field("seconds", seconds, "spent in steps");
    field("owed", owed, "the evaluation of this step was interrupted");
    field("whole_seconds", whole_seconds, "since the beginning, without what was lost");
    field("plan", plan, "of a run that has a time");
    field("steps_at_end_of_time", steps_at_end_of_time, "of a run that has a time");
  }
};

// The settings that a run in this folder was begun with.
spec::Recipe recipe_of_run(const std::filesystem::path& folder);

// The recipe with the steps of the run in the folder, and with as many more once that has made all of its
// own. The same until those are made as well, so that an interrupted run resumes. Throws if there is no run.
spec::Recipe with_more_steps(spec::Recipe recipe, const std::filesystem::path& folder, int64_t more);

}  // namespace heed::train
