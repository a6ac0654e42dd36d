// How many threads heed may use, and loops that use them.
//
// One pool for everything: OpenMP's, which oneDNN uses as well (two pools made two threads slower than one).
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace heed {

// Cores this process may use, by CPU affinity and the cgroup's CPU quota.
int available_threads();

// The number of threads heed uses; starts as available_threads().
int thread_count();
void set_thread_count(int threads);

// While it lives, programs of the calling thread use no other: several of them can then run at once, each on
// its own thread. Results are the same with any number of threads.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

// Idle threads of the pool spin for a moment before they sleep. By default that moment is long, and on a
// machine where others want the cores each wait at the end of a loop then costs a time slice. The pool reads
// its settings before main begins, so the first thing the program does is to restart itself with a short
// one, unless the user has set it.
void keep_idle_threads_quiet(char** argv);

// While it lives, the calling thread is pinned to a core that no worker has, if the workers are pinned
// (threads.cpp). It lives only while a program runs, so that threads and processes started in between do not
// inherit the core.
class CoreForCaller {
 public:
  CoreForCaller();
  ~CoreForCaller();
  CoreForCaller(const CoreForCaller&) = delete;
  CoreForCaller& operator=(const CoreForCaller&) = delete;

 private:
  bool placed_ = false;
};

// Where the limit came from, for `heed bench` and logs: "2 threads, 8 cores allowed, cgroup quota 2".
std::string describe_threads();

// The number of threads worth waking for this much single-thread work: small ops stay on one.
int threads_for(double nanoseconds);
// The least work worth waking a thread for, which costs about 10 us; tests set 0, so that everything runs in
// parallel.
inline constexpr double kWorkWorthAThread = 20e3;
void set_work_worth_a_thread(double nanoseconds);

// body(i, worker) for i in [0, count), shared among at most `threads` threads as they become free; worker <
// threads says which one it is, for scratch memory. Nothing else may depend on it. Bodies must not throw.
template <class Body>
inline void parallel_for_workers(int64_t count, int threads, const Body& body) {
  threads = static_cast<int>(std::min<int64_t>({count, threads, thread_count()}));
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int64_t i = 0; i < count; ++i) body(i, omp_get_thread_num());
}

template <class Body>
inline void parallel_for(int64_t count, int threads, const Body& body) {
  parallel_for_workers(count, threads, [&](int64_t i, int) { body(i); });
}

// body(begin, end) over [0, count) cut in equal contiguous pieces, one per thread.
template <class Body>
void parallel_range(int64_t count, int threads, const Body& body) {
  threads = static_cast<int>(std::clamp<int64_t>(count, 1, threads));
  parallel_for(threads, threads,
               [&](int64_t piece) { body(count * piece / threads, count * (piece + 1) / threads); });
}

}  // namespace heed
