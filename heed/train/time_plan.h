// A schedule that ends at a certain time. An update counts as one at first; once it is known how long updates
// take here, each counts as more, if need be, so that the learning rate has come down when the time is up.
#pragma once

#include <cstdint>

#include "heed/base/fields.h"

namespace heed::train {

class TimePlan {
 public:
  // `decided`: what to_json() returned, to go on with it; `what` names it in errors.
  TimePlan(int64_t steps, const Json& decided, const std::string& what);

  // Where on the schedule an update is, counted from 1 like updates.
  double position(int64_t step) const;
  int64_t last() const;  // update
  // After `step` updates there is time for so many more. The schedule is never slowed down: with enough time
  // for all its steps, each update counts as one.
  void decide(int64_t step, double more);
  // What was decided, so that a resumed run does the same.
  Json to_json() const;

 private:
  struct Decision {
    int64_t step = 0;  // after so many updates
    double position = 0, pace = 1;
    template <class Visitor>
    void visit(Visitor&& field) {
      field("step", step, "updates made when it was decided");
      field("position", position, "on the schedule, then");
      field("pace", pace, "steps of the schedule for an update from then on");
    }
  };

  double steps_;  // of the schedule
  Decision now_;
};

}  // namespace heed::train
