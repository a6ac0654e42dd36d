#include "heed/train/time_plan.h"

#include <algorithm>
#include <cmath>

namespace heed::train {

TimePlan::TimePlan(int64_t steps, const Json& decided, const std::string& what)
    : steps_(static_cast<double>(steps)) {
  if (decided.is_null()) return;
  now_ = from_json<Decision>(decided, what);
  if (now_.step < 0 || !(now_.position >= 0) || !(now_.position <= steps_) || !(now_.pace >= 1))
    throw damaged_error(what, ": no schedule of ", steps, " steps has the plan ", decided.dump(),
                        "; is it damaged?");
}

double TimePlan::position(int64_t step) const {
  return std::min(steps_, now_.position + now_.pace * static_cast<double>(step - now_.step));
}

int64_t TimePlan::last() const {
  constexpr double kRounding = 1e-6;  // of an update
  return now_.step + static_cast<int64_t>(std::ceil((steps_ - now_.position) / now_.pace - kRounding));
}

void TimePlan::decide(int64_t step, double more) {
  const double at = position(step), pace = std::max(1.0, (steps_ - at) / std::max(1.0, std::floor(more)));
  if (pace != now_.pace) now_ = {step, at, pace};
}

Json TimePlan::to_json() const { return now_.step == 0 ? Json() : heed::to_json(now_); }

}  // namespace heed::train
