#include "heed/base/process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "heed/base/cgroup.h"
#include "heed/base/system_error.h"

namespace heed {
namespace {

// The value of "Name:   123 kB" in a /proc file, in bytes. Throws if it cannot be read, as without a free
// file descriptor.
int64_t proc_field(const char* path, const std::string& name) {
  std::ifstream file(path);
  if (!file) throw path_error(text(path, ": cannot be read"), errno);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::atoll(line.c_str() + name.size() + 1);
  }
  return 0;
}

}  // namespace

int64_t resident_bytes() { return proc_field("/proc/self/status", "VmRSS"); }

int64_t peak_resident_bytes() { return proc_field("/proc/self/status", "VmHWM"); }

int64_t available_memory() {
  return std::min(proc_field("/proc/meminfo", "MemAvailable"), cgroup_memory_available());
}

}  // namespace heed
