#include "heed/measure/device.h"

#include <unistd.h>

#include <cmath>
#include <fstream>

#include "heed/base/cgroup.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"

namespace heed::measure {
namespace {

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// "always [madvise] never": the one in brackets.
std::string huge_pages() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(in, line);
  const size_t begin = line.find('['), end = line.find(']');
  return begin == std::string::npos || end == std::string::npos ? "none"
                                                                : line.substr(begin + 1, end - begin - 1);
}

}  // namespace

std::string Device::fingerprint() const {
  return text(cpu, ", ", allowed, " of ", cores, " cores, ", threads, " threads, ", instructions, ", ",
              products, ", huge pages ", huge_pages);
}

Device this_device() {
  Device device;
  device.cpu = cpu_name();
  device.cores = sysconf(_SC_NPROCESSORS_ONLN);
  device.allowed = available_threads();
  device.threads = thread_count();
  const double quota = cgroup_cores();
  device.quota = std::isfinite(quota) ? quota : 0;
  device.instructions = kernels::name_of(kernels::isa());
  device.products = kernels::gemm_library();
  device.memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  device.available = available_memory();
  device.huge_pages = huge_pages();
  return device;
}

}  // namespace heed::measure
