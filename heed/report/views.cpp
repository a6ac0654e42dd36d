#include "heed/report/views.h"

#include "heed/store/run_folder.h"

namespace heed::report {

// The list of views. The first that knows a folder reads it.
const Registry<View>& views() {
  static const Registry<View> list("view", {
                                               search_view(),
                                               supernet_view(),
                                               ranking_view(),
                                               training_view(),
                                               device_view(),
                                           });
  return list;
}

std::string state_of(const std::filesystem::path& run, bool done) {
  return store::is_in_use(run) ? "going on" : done ? "done" : "stopped";
}

std::vector<size_t> thinned(size_t count, size_t most) {
  const size_t every = std::max<size_t>(1, (count + most - 1) / most);
  std::vector<size_t> places;
  // From the end, so that the last is there.
  for (size_t at = count; at > 0; at = at > every ? at - every : 0) places.push_back(at - 1);
  if (!places.empty() && places.back() != 0) places.push_back(0);
  std::reverse(places.begin(), places.end());
  return places;
}

}  // namespace heed::report
