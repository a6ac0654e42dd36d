#include "heed/base/threads.h"

#include <sched.h>
#include <unistd.h>

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
    if (file >> quota >> period && quota != "max" && period > 0)
      limit = std::min(limit, std::atof(quota.c_str()) / period);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) break;
    path.resize(slash);
  }
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
      period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0)
    limit = std::min(limit, quota / period);
  return limit;
}

int configured = 0;  // 0: not yet asked

// The cores this process was given, before heed places its threads on them.
const cpu_set_t& allowed_cores() {
  static const cpu_set_t cores = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_SET(0, &set);
    return set;
  }();
  return cores;
}

int affinity_cores() { return std::max(1, CPU_COUNT(&allowed_cores())); }

// A thread that sleeps between two loops is often woken on the core of the one that wakes it, and both then
// share that core for a while: half the speed. When heed uses all the cores it was given, each thread gets
// its own; with fewer they stay free, because several such programs would all choose the same ones.
void place_threads(int threads) {
  const bool own_core = threads > 1 && threads == affinity_cores();
#pragma omp parallel num_threads(std::max(threads, configured))
  {
    cpu_set_t mine = allowed_cores();
    if (own_core && omp_get_thread_num() < threads) {
      int seen = 0;
      for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed_cores()) && seen++ != omp_get_thread_num()) CPU_CLR(core, &mine);
      }
    }
    sched_setaffinity(0, sizeof mine, &mine);
  }
}

}  // namespace

int available_threads() {
  const double quota = cgroup_cores();
  const int cores = affinity_cores();
  return std::isfinite(quota) ? std::clamp(static_cast<int>(std::floor(quota)), 1, cores) : cores;
}

int thread_count() {
  if (configured == 0) set_thread_count(available_threads());
  return configured;
}

void set_thread_count(int threads) {
  if (threads < 1 || threads > 1024)
    throw usage_error("threads: ", threads, " asked for; give a number from 1 to 1024");
  omp_set_num_threads(threads);
  place_threads(threads);
  configured = threads;
}

void keep_idle_threads_quiet(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;
  setenv("GOMP_SPINCOUNT", "2000",
         1);  // some 50 us: longer than the gap between two ops, shorter than a time slice
  execv("/proc/self/exe", argv);
  // Where that is not possible (no /proc) heed runs as it is.
}

std::string describe_threads() {
  const double quota = cgroup_cores();
  return text(thread_count(), thread_count() == 1 ? " thread, " : " threads, ", affinity_cores(),
              " cores allowed", std::isfinite(quota) ? text(", cgroup quota ", quota) : "");
}

}  // namespace heed
