#include "heed/search/profile_check.h"

#include <algorithm>
#include <cmath>

#include "heed/measure/timed_model.h"
#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

// Models are timed in turns, so that a busy moment of the machine does not fall on one of them.
constexpr int64_t kRounds = 3;

}  // namespace

ProfileCheck check_profile(const spec::Space& space, const measure::DeviceProfile& profile, int64_t count,
                           const std::function<void(int64_t done, int64_t all)>& progress) {
  ProfiledCosts costs(space, profile);
  const GenePool pool(space);
  Rng rng(30);
  ProfileCheck check;
  std::vector<spec::ModelSpec> models;
  for (int64_t attempts = 0; static_cast<int64_t>(models.size()) < count; ++attempts) {
    if (attempts > 1000 * count)
      throw failure("hardly any random model of ", space.name, " has as many parameters as it asks for");
    const auto candidate = pool.decode(pool.draw(rng));
    if (!candidate) continue;
    const Cost cost = costs.of(*candidate);
    if (cost.decoder < space.least_decoder || cost.decoder > space.most_decoder) continue;
    models.push_back(space.model_of(*candidate));
    check.models.push_back({space.key_of(*candidate), cost.latency, 0});
  }
  std::vector<std::vector<measure::Timing>> rounds(models.size());
  for (int64_t done = 0; done < kRounds * count; ++done) {
    const auto i = static_cast<size_t>(done % count);
    rounds[i].push_back(measure::time_whole(models[i], space.length).timing);
    progress(done + 1, kRounds * count);
  }
  std::vector<double> errors;
  for (size_t i = 0; i < models.size(); ++i) {
    check.models[i].measured = measure::combine(rounds[i]).median;
    errors.push_back(std::abs(check.models[i].predicted / check.models[i].measured - 1));
  }
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double share) {
    return errors[static_cast<size_t>(share * static_cast<double>(errors.size() - 1) + 0.5)];
  };
  check.median = at(0.5), check.p95 = at(0.95), check.worst = errors.back();
  return check;
}

}  // namespace heed::search
