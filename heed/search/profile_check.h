// How far the sum of a model's pieces is from the model as a whole.
#pragma once

#include "heed/search/profiled_costs.h"

namespace heed::search {

struct ProfileCheck {
  struct Model {
    std::string key;
    double predicted, measured;  // seconds
  };
  std::vector<Model> models;
  struct Errors {
    double median = 0, p95 = 0, worst = 0;
  };
  Errors errors;  // |predicted / measured - 1|
  // The median of measured / predicted: a shared machine is not as fast as when it was profiled. And the
  // errors that remain when predictions are multiplied by it.
  double drift = 1;
  Errors apart;
};

// Draws models that the profile was not made from and measures them as a whole, interleaved: at a prompt of
// the space's length, or at one more token after it.
ProfileCheck check_profile(const spec::Space& space, const measure::DeviceProfile& profile, int64_t count,
                           bool step, const std::function<void(size_t done, size_t all)>& progress);

}  // namespace heed::search
