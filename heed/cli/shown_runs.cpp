#include "heed/cli/shown_runs.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/cli/user_profile.h"
#include "heed/store/run_folder.h"

namespace heed::cli {

namespace fs = std::filesystem;

std::vector<fs::path> shown_runs(const std::vector<std::string>& named, const std::string& profile,
                                 const std::string& verb) {
  std::vector<fs::path> runs;
  bool timed = false;  // it shows times of blocks
  for (const std::string& name : named) {
    if (!fs::exists(name))
      throw usage_error(verb, ": ", name, " does not exist; give folders that were made with -o");
    if (std::ranges::find(runs, fs::path(name)) == runs.end()) runs.emplace_back(name);
    const std::optional<store::RunKind> kind = store::run_kind(name);
    timed = timed || kind == store::RunKind::kSearch || kind == store::RunKind::kWorth;
  }
  if (!profile.empty() && !fs::exists(profile))
    throw usage_error(verb, ": --profile ", profile, " does not exist");
  if (!profile.empty() || timed) {
    const fs::path file = profile_path(profile);
    if (fs::exists(file) && std::ranges::find(runs, file) == runs.end()) runs.push_back(file);
  }
  return runs;
}

}  // namespace heed::cli
