#include "heed/search/profile_check.h"

#include <cmath>

#include "heed/measure/yardstick.h"
#include "heed/search/strategies/genes.h"

namespace heed::search {
ProfileCheck check_profile(const spec::Space& space, const measure::DeviceProfile& profile, int64_t count,
                           bool step, const std::function<void(size_t done, size_t all)>& progress) {
  ProfiledCosts costs(space, profile);
  const GenePool pool(space);
  Rng rng(30);
  ProfileCheck check;
  std::vector<spec::ModelSpec> models;
  for (int64_t attempts = 0; static_cast<int64_t>(models.size()) < count; ++attempts) {
    if (attempts > 1000 * count)
      throw infeasible_error("hardly any random model of ", space.name,
                             " has as many parameters as it asks for");
    const auto candidate = pool.decode(pool.draw(rng));
    if (!candidate) continue;
    const Cost cost = costs.of(*candidate);
    if (!space.allows_size(cost.decoder, cost.total)) continue;
    models.push_back(space.model_of(*candidate));
    check.models.push_back({space.key_of(*candidate), step ? cost.step : cost.latency, 0});
  }
  measure::Yardstick yardstick;
  const std::vector<measure::Timing> timings = measure::time_interleaved(
      models.size(),
      [&](size_t i, int64_t) {
        return measure::time_whole(yardstick, models[i], {space.length, step}).timing;
      },
      progress, profile.reference());
  std::vector<double> ratios;
  for (size_t i = 0; i < models.size(); ++i) {
    check.models[i].measured = timings[i].median;
    ratios.push_back(timings[i].median / check.models[i].predicted);
  }
  check.drift = measure::percentile(ratios, 0.5);
  const auto errors_with = [&](double factor) {
    std::vector<double> errors;
    for (const double ratio : ratios) errors.push_back(std::abs(factor / ratio - 1));
    return ProfileCheck::Errors{measure::percentile(errors, 0.5), measure::percentile(errors, 0.95),
                                measure::percentile(errors, 1)};
  };
  check.errors = errors_with(1);
  check.apart = errors_with(check.drift);
  return check;
}

}  // namespace heed::search
