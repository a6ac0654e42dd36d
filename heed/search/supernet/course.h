// What each iteration of a supernet does, as a function of its number: a run that goes on needs nothing else.
#pragma once

#include "heed/search/supernet/settings.h"

namespace heed::search {

// Settings in which -1 stands for nothing any more: for a recipe of so many layers and updates, and a text of
// so many segments.
SupernetSettings resolved(SupernetSettings settings, int64_t layers, int64_t updates, int64_t segments);

struct Turn {
  bool theta = false;  // logits are updated, weights rest; otherwise the other way round
  int64_t number = 0;  // of this update among those of its kind, from 1
  double temperature = 0;
};

class Course {
 public:
  // `settings` are resolved. An Error if logits would never be updated.
  explicit Course(const SupernetSettings& settings);

  Turn at(int64_t step) const;  // from 0
  int64_t theta_updates() const { return thetas_before(settings_.steps); }
  int64_t weight_updates() const { return settings_.steps - theta_updates(); }
  // Whether a string that last changed after `changed` iterations may be believed after `step` of them.
  bool converged(int64_t changed, int64_t step) const;

 private:
  int64_t thetas_before(int64_t step) const;

  SupernetSettings settings_;
  int64_t first_theta_;  // of a cycle
};

}  // namespace heed::search
