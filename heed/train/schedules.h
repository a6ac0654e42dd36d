// Learning rate schedules.
#pragma once

#include "heed/base/registry.h"
#include "heed/spec/training_spec.h"

namespace heed::train {

struct Course {
  double at;      // this update
  double begin;   // of the decay
  double end;     // of the training
  double warmup;  // its length
};

struct ScheduleEntry {
  std::string name;
  const char* meaning;
  double (*share)(const Course& course);  // of the way from the final rate to the largest
};
const Registry<ScheduleEntry>& schedules();

// The rate of update `step`, which counts from 1: a linear warm-up, then the schedule. Between two updates if
// the schedule must end before its last one (time_plan.h).
double learning_rate_at(const spec::TrainingSpec& spec, double step);

}  // namespace heed::train
