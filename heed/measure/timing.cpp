#include "heed/measure/timing.h"

#include <algorithm>

#include "heed/base/clock.h"

namespace heed::measure {

Timing summarise(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9), static_cast<int>(seconds.size())};
}

Timing time(const std::function<void()>& body, double budget, int least) {
  body();
  std::vector<double> seconds;
  const double start = now_seconds();
  while (static_cast<int>(seconds.size()) < least || now_seconds() - start < budget) {
    const double begin = now_seconds();
    body();
    seconds.push_back(now_seconds() - begin);
  }
  return summarise(std::move(seconds));
}

}  // namespace heed::measure
