#include "heed/train/schedules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::train {
namespace {

double done(const Course& course) {
  return std::clamp((course.at - course.begin) / std::max(1.0, course.end - course.begin), 0.0, 1.0);
}

double cosine(const Course& course) { return 0.5 * (1 + std::cos(std::numbers::pi * done(course))); }
double linear(const Course& course) { return 1 - done(course); }
double constant(const Course&) { return 1; }
double inverse_square_root(const Course& course) {
  const double warmup = std::max(1.0, course.warmup);
  return std::sqrt(warmup / std::max(warmup, course.at));
}

}  // namespace

// The list of schedules. A new one adds one line.
const Registry<ScheduleEntry>& schedules() {
  static const Registry<ScheduleEntry> list(
      "schedule", {
                      {"constant", "stays", constant},
                      {"cosine", "half a cosine down to the final rate", cosine},
                      {"inverse-square-root", "falls with the root of the step", inverse_square_root},
                      {"linear", "a straight line down to the final rate", linear},
                  });
  return list;
}

double learning_rate_at(const spec::TrainingSpec& spec, double step) {
  const ScheduleEntry& schedule = schedules().find(spec.schedule);
  const auto warmup = static_cast<double>(spec.warmup), end = static_cast<double>(spec.steps);
  if (spec.late_rate && step == 1) return spec.learning_rate;
  const double updates_before = step - 1, at = spec.late_rate ? updates_before : step;
  const bool from_zero = spec.warmup_from_zero;
  const double warmed = from_zero ? updates_before : at;
  if (spec.decay_from == DecayFrom::kChained ? step <= warmup : warmed < warmup)
    return spec.learning_rate * warmed / warmup;
  double share = 1;
  switch (spec.decay_from) {
    case DecayFrom::kWarmup:
      share = schedule.share({at, warmup, end, warmup});
      break;
    case DecayFrom::kStart:
      share = schedule.share({at, 0, end, warmup});
      break;
    case DecayFrom::kChained: {
      // A schedule over all updates, scaled to continue from the last rate of the warm-up (PyTorch's chained
      // cosine, as SRU++ is trained).
      const double last = warmup > 0 ? (from_zero ? (warmup - 1) / warmup : 1) : 1;
      const double begun = warmup > 0 ? schedule.share({warmup - 1, 0, end, warmup}) : 1;
      share = last * schedule.share({updates_before, 0, end, warmup}) / begun;
      break;
    }
  }
  return spec.final_rate + (spec.learning_rate - spec.final_rate) * share;
}

}  // namespace heed::train
