#include "heed/search/profile_check.h"

#include <algorithm>
#include <cmath>

#include "heed/measure/timed_model.h"
#include "heed/search/strategies/genes.h"

namespace heed::search {

ProfileCheck check_profile(const spec::Space& space, const measure::DeviceProfile& profile, int64_t count,
                           const std::function<void(int64_t done)>& progress) {
  ProfiledCosts costs(space, profile);
  const GenePool pool(space);
  Rng rng(30);
  ProfileCheck check;
  std::vector<double> errors;
  for (int64_t attempts = 0; static_cast<int64_t>(errors.size()) < count; ++attempts) {
    if (attempts > 1000 * count)
      throw failure("hardly any random model of ", space.name, " has as many parameters as it asks for");
    const auto candidate = pool.decode(pool.draw(rng));
    if (!candidate) continue;
    const Cost cost = costs.of(*candidate);
    if (cost.decoder < space.least_decoder || cost.decoder > space.most_decoder) continue;
    measure::TimedModel model(space.model_of(*candidate), measure::prompt_use(space.length));
    const double measured = measure::time([&] { model.run(); }, 0.5, 9).median;
    check.models.push_back({space.key_of(*candidate), cost.latency, measured});
    errors.push_back(std::abs(cost.latency / measured - 1));
    progress(static_cast<int64_t>(errors.size()));
  }
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double share) {
    return errors[static_cast<size_t>(share * static_cast<double>(errors.size() - 1) + 0.5)];
  };
  check.median = at(0.5), check.p95 = at(0.95), check.worst = errors.back();
  return check;
}

}  // namespace heed::search
