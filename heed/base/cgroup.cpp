#include "heed/base/cgroup.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <vector>

namespace heed {
namespace {

// This process's folder and all above it: a limit on any of them binds.
std::vector<std::string> folders(const std::string& root) {
  std::string path;
  std::ifstream membership(root + "/proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  }
  std::vector<std::string> found;
  while (true) {
    found.push_back(root + "/sys/fs/cgroup" + path);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return found;
    path.resize(slash);
  }
}

// The first number in a file, or -1 ("max" is no number).
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
  for (const std::string& folder : folders(root)) {  // version 2: "quota period" in one file
    std::ifstream file(folder + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0)
      cores = std::min(cores, std::atof(quota.c_str()) / period);
  }
  const std::string old = root + "/sys/fs/cgroup/cpu/cpu.cfs_";
  const double quota = number_in(old + "quota_us"), period = number_in(old + "period_us");
  if (quota > 0 && period > 0) cores = std::min(cores, quota / period);
  return cores;
}

int64_t cgroup_memory_available(const std::string& root) {
  constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  double available = INFINITY;
  for (const std::string& folder : folders(root)) {
    const double most = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
    // Pages of files that were read once are given back when memory is short.
    if (most >= 0 && used >= 0)
      available = std::min(available, most - used + field_in(folder + "/memory.stat", "inactive_file"));
  }
  return std::isfinite(available) ? static_cast<int64_t>(std::max(0.0, available)) : kUnlimited;
}

}  // namespace heed
