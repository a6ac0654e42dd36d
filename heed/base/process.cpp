#include "heed/base/process.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace heed {
namespace {

// The value of "Name:   123 kB" in a /proc file, in bytes.
int64_t proc_field(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::atoll(line.c_str() + name.size() + 1);
  }
  return 0;
}

}  // namespace

int64_t resident_bytes() { return proc_field("/proc/self/status", "VmRSS"); }

int64_t peak_resident_bytes() { return proc_field("/proc/self/status", "VmHWM"); }

bool reset_peak_resident() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

int64_t available_memory() {
  int64_t limit = proc_field("/proc/meminfo", "MemAvailable");
  std::ifstream most("/sys/fs/cgroup/memory.max"), used("/sys/fs/cgroup/memory.current");
  int64_t cgroup_most = 0, cgroup_used = 0;
  if (most >> cgroup_most && used >> cgroup_used) limit = std::min(limit, cgroup_most - cgroup_used);
  return limit;
}

}  // namespace heed
