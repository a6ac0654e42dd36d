// Costs with latencies from the device's profile, and how it is filled: every piece of a space is timed
// inside a model of realistic size, so that its weights are as cold in the cache as they will be.
#pragma once

#include "heed/measure/device_profile.h"
#include "heed/search/graph_costs.h"

namespace heed::search {

// The name of a block in the profile, timed at the space's length or at one more token after it.
std::string block_key(const spec::Space& space, int64_t width, const spec::Block& block, bool step);

class ProfiledCosts : public GraphCosts {
 public:
  ProfiledCosts(const spec::Space& space, const measure::DeviceProfile& profile)
      : GraphCosts(space), space_(space), profile_(profile) {}

  // Throws if a piece was not timed yet.
  Cost of_frame(const spec::Frame& frame) override;
  Cost of_layer(int64_t width, const spec::Layer& layer) override;
  double reference() const { return profile_.reference(); }  // of the yardstick

 private:
  double latency_of(const std::string& key) const;
  const measure::LoadPace& load_pace() const;

  const spec::Space& space_;
  const measure::DeviceProfile& profile_;
  std::map<spec::Frame, Cost> frames_;
  std::map<std::pair<int64_t, spec::Layer>, Cost> layers_;
};

struct ProfileProgress {
  size_t done = 0, all = 0;  // timings: pieces, each in several rounds
  double share = 0;          // of the work
};
// Times the pieces missing from the profile. Saved group by group: no measurement is lost.
void fill_profile(const spec::Space& space, measure::DeviceProfile& profile,
                  const std::function<void(const ProfileProgress&)>& progress);

}  // namespace heed::search
