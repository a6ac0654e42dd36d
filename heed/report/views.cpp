#include "heed/report/views.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/store/run_folder.h"

namespace heed::report {

// The list of views: one for each kind of run, and one for profiles.
const Registry<View>& views() {
  static const Registry<View> list("view", {
                                               search_view(),
                                               supernet_view(),
                                               ranking_view(),
                                               worth_view(),
                                               training_view(),
                                               device_view(),
                                           });
  return list;
}

std::string state_of(const std::filesystem::path& run, bool done) {
  return store::is_in_use(run) ? "running" : done ? "done" : "stopped";
}

int64_t models_begun(const std::filesystem::path& run) {
  int64_t begun = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    begun += std::filesystem::exists(entry.path() / "config.json");
  return begun;
}

std::vector<size_t> thinned(size_t count, size_t most) {
  const size_t every = std::max<size_t>(1, (count + most - 1) / most);
  std::vector<size_t> places;
  // From the end, so that the last is included.
  for (size_t at = count; at > 0; at = at > every ? at - every : 0) places.push_back(at - 1);
  if (!places.empty() && places.back() != 0) places.push_back(0);
  std::reverse(places.begin(), places.end());
  return places;
}

std::vector<size_t> outline(size_t count, size_t most,
                            const std::vector<std::function<double(size_t place)>>& lists) {
  std::vector<size_t> places(count);
  std::iota(places.begin(), places.end(), size_t{0});
  if (count <= most) return places;
  places = {0, count - 1};
  const size_t stretches = std::max<size_t>(1, most / (2 * lists.size()));
  for (size_t stretch = 0; stretch < stretches; ++stretch) {
    const size_t begin = stretch * count / stretches, end = (stretch + 1) * count / stretches;
    for (const auto& list : lists) {
      size_t low = end, high = end;
      double least = INFINITY, largest = -INFINITY;
      for (size_t at = begin; at < end; ++at) {
        const double value = list(at);  // NaN is neither
        if (value < least) low = at, least = value;
        if (value > largest) high = at, largest = value;
      }
      if (low < end) places.push_back(low);
      if (high < end) places.push_back(high);
    }
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace heed::report
