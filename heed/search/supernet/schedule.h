// What each iteration of a supernet does, as a function of its number: a resumed run needs nothing else.
#pragma once

#include "heed/search/supernet/settings.h"

namespace heed::search {

// Settings with every -1 resolved, for a recipe of this many layers and updates, and a text of this many
// segments.
SupernetSettings resolved(SupernetSettings settings, int64_t layers, int64_t updates, int64_t segments);

struct Turn {
  bool theta = false;  // logits are updated and weights do not change; otherwise the reverse
  int64_t number = 0;  // of this update among those of its kind, from 1
  double temperature = 0;
};

class SupernetSchedule {
 public:
  // `settings` are resolved. Throws if logits would never be updated.
  explicit SupernetSchedule(const SupernetSettings& settings);

  Turn at(int64_t step) const;  // from 0
  int64_t theta_updates() const { return thetas_before(settings_.steps); }
  int64_t weight_updates() const { return settings_.steps - theta_updates(); }
  // Whether a string that last changed after `changed` iterations counts as converged after `step`.
  bool converged(int64_t changed, int64_t step) const;

 private:
  int64_t thetas_before(int64_t step) const;

  SupernetSettings settings_;
  int64_t first_theta_;  // of a cycle
};

}  // namespace heed::search
