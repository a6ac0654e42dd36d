#include "heed/base/threads.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "heed/base/cgroup.h"
#include "heed/base/error.h"

namespace heed {
namespace {

int configured = 0;  // 0: not set yet
double nanoseconds_worth = kWorkWorthAThread;

// As OpenMP found it at the start: if the user makes it bind threads, the kernel would report only the first
// thread's core.
int affinity_cores() {
  static const int cores = std::max(1, omp_get_num_procs());
  return cores;
}

bool user_places_threads() {
  return std::getenv("OMP_PROC_BIND") || std::getenv("OMP_PLACES") || std::getenv("GOMP_CPU_AFFINITY");
}

// The cores that threads may use, and whether each thread is pinned to its own.
//
// A thread that sleeps between two loops is often woken on the core of the one that wakes it, and both then
// share that core, sometimes for a whole run: half the speed. So when heed uses all the cores it was given,
// each worker is pinned to its own, and the calling thread to the remaining one while it runs a program
// (CoreForCaller). With fewer threads none is pinned: several such programs would choose the same cores.
struct Placement {
  cpu_set_t allowed;
  bool own_core = false;
} placement;
thread_local bool placed_workers = false;  // whether the workers of this thread's pool are pinned
thread_local int only_one = 0;             // nested OneThread objects of this thread

// The n-th of the allowed cores.
cpu_set_t only_core(int number) {
  cpu_set_t mine = placement.allowed;
  int seen = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &placement.allowed) && seen++ != number) CPU_CLR(core, &mine);
  }
  return mine;
}

void place_threads(int threads) {
  placement.own_core = placed_workers = false;
  CPU_ZERO(&placement.allowed);
  if (user_places_threads() || sched_getaffinity(0, sizeof placement.allowed, &placement.allowed) != 0)
    return;
  placement.own_core = placed_workers = threads > 1 && threads == CPU_COUNT(&placement.allowed);
#pragma omp parallel num_threads(std::max(threads, configured))
  {
    const int worker = omp_get_thread_num();
    if (worker > 0) {
      const cpu_set_t mine = placement.own_core && worker < threads ? only_core(worker) : placement.allowed;
      sched_setaffinity(0, sizeof mine, &mine);
    }
  }
}

// Whether /proc/self/exe is the file this code was loaded from; started through an explicit loader, it is the
// loader.
bool can_start_again() {
  struct stat program {};
  if (stat("/proc/self/exe", &program) != 0) return false;
  FILE* maps = std::fopen("/proc/self/maps", "r");
  if (!maps) return false;
  const auto here = reinterpret_cast<uintptr_t>(&can_start_again);
  bool same = false;
  char line[4400];
  while (std::fgets(line, sizeof line, maps)) {
    uintptr_t begin = 0, end = 0;
    uint64_t inode = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %" SCNu64, &begin, &end, &inode) == 3 &&
        begin <= here && here < end) {
      same = inode == program.st_ino;
    }
  }
  std::fclose(maps);
  return same;
}

}  // namespace

int available_threads() {
  const double quota = cgroup_cores();
  const int cores = affinity_cores();
  return std::isfinite(quota) ? std::clamp(static_cast<int>(std::floor(quota)), 1, cores) : cores;
}

int thread_count() {
  // Once, also where the first programs of a process run on several threads.
  static const bool is_set = [] {
    if (configured == 0) set_thread_count(available_threads());
    return true;
  }();
  static_cast<void>(is_set);
  return only_one > 0 ? 1 : configured;
}

OneThread::OneThread() {
  static_cast<void>(thread_count());  // set before the first limit
  if (only_one++ == 0) omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (--only_one == 0) omp_set_num_threads(configured);
}

void set_thread_count(int threads) {
  if (threads < 1 || threads > 1024)
    throw usage_error("threads: ", threads, " asked for; give a number from 1 to 1024");
  omp_set_num_threads(threads);
  place_threads(threads);
  configured = threads;
}

CoreForCaller::CoreForCaller() {
  // Another thread that runs a program has its own pool, which would inherit the one core.
  if (!placement.own_core || !placed_workers || only_one > 0) return;
  const cpu_set_t mine = only_core(0);
  placed_ = sched_setaffinity(0, sizeof mine, &mine) == 0;
}

CoreForCaller::~CoreForCaller() {
  if (placed_) sched_setaffinity(0, sizeof placement.allowed, &placement.allowed);
}

int threads_for(double nanoseconds) {
  if (nanoseconds_worth <= 0) return thread_count();
  return static_cast<int>(std::clamp<double>(nanoseconds / nanoseconds_worth, 1, thread_count()));
}

void set_work_worth_a_thread(double nanoseconds) { nanoseconds_worth = nanoseconds; }

void keep_idle_threads_quiet(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY") || user_places_threads() ||
      !can_start_again())
    return;
  // About 50 us: longer than the gap between two ops, shorter than a time slice.
  if (setenv("GOMP_SPINCOUNT", "2000", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

std::string describe_threads() {
  const double quota = cgroup_cores();
  return text(thread_count(), thread_count() == 1 ? " thread, " : " threads, ", affinity_cores(),
              affinity_cores() == 1 ? " core" : " cores", " allowed",
              std::isfinite(quota) ? text(", cgroup quota ", quota) : "");
}

}  // namespace heed
