#include "heed/measure/device.h"

#include <sys/times.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "heed/base/cgroup.h"
#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/base/version.h"
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

// Clock ticks in which any core was not idle: the first line of /proc/stat, without idle and iowait.
double busy_ticks() {
  std::ifstream in("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  in >> cpu >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen;
  return user + nice + system + interrupts + soft + stolen;
}

double own_ticks() {
  tms used{};
  times(&used);
  return static_cast<double>(used.tms_utime + used.tms_stime);
}

}  // namespace

double load_of_others() {
  const double begin = now_seconds(), busy = busy_ticks(), own = own_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  const double ticks = (busy_ticks() - busy) - (own_ticks() - own);
  return std::max(0.0, ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) / (now_seconds() - begin));
}

std::string Device::fingerprint() const {
  return text("heed ", version(), ", ", cpu, ", ", allowed, " of ", cores, " cores, ", threads, " threads, ",
              instructions, ", ", products, ", huge pages ", huge_pages);
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
