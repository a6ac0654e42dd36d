#include "heed/cli/shown_runs.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/cli/user_profile.h"
#include "heed/store/run_folder.h"

namespace heed::cli {

namespace fs = std::filesystem;

void ShownRuns::declare(Flags& flags) {
  flags.positionals("run", named_, "folders of runs, or a device's profile");
  flags.path("profile", profile_, "device profile to show beside searches; default: the user's own");
}

std::vector<fs::path> ShownRuns::paths(const std::string& verb) const {
  std::vector<fs::path> runs;
  bool timed = false;  // it shows times of blocks
  for (const std::string& name : named_) {
    if (!fs::exists(name))
      throw usage_error(verb, ": ", name, " does not exist; give folders that were made with -o");
    if (std::ranges::find(runs, fs::path(name)) == runs.end()) runs.emplace_back(name);
    const std::optional<store::RunKind> kind = store::run_kind(name);
    timed = timed || kind == store::RunKind::kSearch || kind == store::RunKind::kWorth;
  }
  if (!profile_.empty() && !fs::exists(profile_))
    throw usage_error(verb, ": --profile ", profile_, " does not exist");
  if (!profile_.empty() || timed) {
    const fs::path file = profile_path(profile_);
    if (fs::exists(file) && std::ranges::find(runs, file) == runs.end()) runs.push_back(file);
  }
  return runs;
}

}  // namespace heed::cli
