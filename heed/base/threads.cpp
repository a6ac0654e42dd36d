#include "heed/base/threads.h"

#include <sched.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "heed/base/error.h"

namespace heed {
namespace {

// The cgroup's CPU limit in cores, or infinity. Version 2 keeps "quota period" in one file, version 1 in two.
double cgroup_cores() {
  double limit = INFINITY;
  std::string path;
  std::ifstream membership("/proc/self/cgroup");
  for (std::string line; std::getline(membership, line);) {
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  }
  // A limit on any ancestor binds as well.
  while (true) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) limit = std::min(limit, std::atof(quota.c_str()) / period);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) break;
    path.resize(slash);
  }
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) limit = std::min(limit, quota / period);
  return limit;
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

int& configured() {
  static int threads = available_threads();
  return threads;
}

}  // namespace

int available_threads() {
  const double quota = cgroup_cores();
  const int cores = affinity_cores();
  return std::isfinite(quota) ? std::clamp(static_cast<int>(std::floor(quota)), 1, cores) : cores;
}

int thread_count() { return configured(); }

void set_thread_count(int threads) {
  if (threads < 1 || threads > 1024) throw usage_error("threads: ", threads, " asked for; give a number from 1 to 1024");
  configured() = threads;
  omp_set_num_threads(threads);
}

std::string describe_threads() {
  const double quota = cgroup_cores();
  return text(thread_count(), thread_count() == 1 ? " thread, " : " threads, ", affinity_cores(), " cores allowed",
              std::isfinite(quota) ? text(", cgroup quota ", quota) : "");
}

}  // namespace heed
