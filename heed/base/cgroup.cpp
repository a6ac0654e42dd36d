#include "heed/base/cgroup.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// The folder where a controller limits this process, and all its parents, in either version: a limit on any
// of them applies. A container may see its own folder as the root, so the root is always included.
std::vector<std::string> folders(const std::string& root, const std::string& controller) {
  const std::string base = root + "/sys/fs/cgroup";
  std::vector<std::string> found = {base, base + "/" + controller};
  // Lines of "number:controllers:/path"; version 2 has one line, "0::/path".
  std::ifstream membership(root + "/proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = text(",", line.substr(first + 1, second - first - 1), ",");
    const bool new_version = controllers == ",,";
    if (!new_version && controllers.find(text(",", controller, ",")) == std::string::npos) continue;
    const std::string top = found[new_version ? 0 : 1];
    for (std::filesystem::path inside = line.substr(second + 1); inside.has_relative_path();
         inside = inside.parent_path())
      found.push_back(text(top, inside.string()));
  }
  return found;
}

// The first number in a file, or -1 ("max" is not a number).
double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = -1;
  return file >> value ? value : -1;
}

// "name 123" in a file of such lines, or 0.
double field_in(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string key;
  for (double value = 0; file >> key >> value;) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace

double cgroup_cores(const std::string& root) {
  double cores = INFINITY;
  for (const std::string& folder : folders(root, "cpu")) {
    std::ifstream file(folder + "/cpu.max");  // version 2: "quota period" in one file
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0)
      cores = std::min(cores, std::atof(quota.c_str()) / period);
    const double old_quota = number_in(folder + "/cpu.cfs_quota_us"),
                 old_period = number_in(folder + "/cpu.cfs_period_us");
    if (old_quota > 0 && old_period > 0) cores = std::min(cores, old_quota / old_period);
  }
  return cores;
}

int64_t cgroup_memory_available(const std::string& root) {
  double available = INFINITY;
  const auto limit = [&](double most, double used, double given_back) {
    // The kernel reclaims cached file pages when memory is short.
    if (most >= 0 && used >= 0) available = std::min(available, most - used + given_back);
  };
  for (const std::string& folder : folders(root, "memory")) {
    limit(number_in(folder + "/memory.max"), number_in(folder + "/memory.current"),
          field_in(folder + "/memory.stat", "inactive_file"));
    limit(number_in(folder + "/memory.limit_in_bytes"), number_in(folder + "/memory.usage_in_bytes"),
          field_in(folder + "/memory.stat", "total_inactive_file"));
  }
  constexpr double kNoLimit = 0x1p62;  // version 1 writes a number near the largest
  if (available >= kNoLimit) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::max(0.0, available));
}

}  // namespace heed
