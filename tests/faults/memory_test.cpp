// Too little memory. Some of what is tried fits, nothing may abort, and no number may be wrong.
#include <sys/resource.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/kernels/gemm.h"
#include "tests/faults/support.h"

namespace heed::test {
namespace {

#ifdef HEED_SANITIZED
TEST(Memory, NotHere) { GTEST_SKIP() << "NOT TESTED HERE: the sanitizer needs all the addresses there are"; }
#else

class Memory : public Faults {
 protected:
  static std::string within(int64_t kib) { return heed::text("ulimit -v ", kib, ";"); }

  // The least that the program begins to work in, in KiB: its libraries alone take most of it.
  static int64_t least() {
    int64_t too_little = 8 << 10, enough = 1 << 20;
    EXPECT_EQ(heed("recipes --threads 1", within(enough)).code, 0);
    while (enough - too_little > 500) {
      const int64_t middle = (too_little + enough) / 2;
      (heed("recipes --threads 1", within(middle)).code == 0 ? enough : too_little) = middle;
    }
    return enough;
  }
};

// A control group with so much memory, of either version: beyond it the kernel kills.
class Container {
 public:
  // None where there may be no such groups.
  static std::optional<Container> of(int64_t kib) {
    const std::string bytes = std::to_string(kib * 1024);
    Container version_1(heed::text("/sys/fs/cgroup/memory/heed-faults-", ::getpid()));
    if (version_1.write("memory.limit_in_bytes", bytes)) {
      version_1.write("memory.memsw.limit_in_bytes", bytes);  // with swap; not on every kernel
      return version_1;
    }
    Container version_2(heed::text("/sys/fs/cgroup/heed-faults-", ::getpid()));
    if (version_2.write("memory.max", bytes)) {
      version_2.write("memory.swap.max", "0");
      return version_2;
    }
    return {};
  }
  Container(Container&& other) : folder_(std::exchange(other.folder_, {})) {}
  ~Container() {
    if (!folder_.empty()) ::rmdir(folder_.c_str());
  }

  // Before a command of the shell.
  std::string entering() const { return "echo 0 > " + folder_ + "/cgroup.procs; exec "; }

 private:
  explicit Container(std::string folder) : folder_(std::move(folder)) { ::mkdir(folder_.c_str(), 0755); }
  bool write(const char* name, const std::string& value) const {
    std::ofstream file(folder_ + "/" + name);
    return static_cast<bool>(file << value << std::flush);
  }
  std::string folder_;
};

// A little less than the program needs to begin.
TEST_F(Memory, ForNoThread) {
  const Outcome outcome = heed("recipes --threads 1", within(least() - 2000));
  expect_told(outcome, 1, {"no memory for another thread"});
}

TEST_F(Memory, VerbsFailInWords) {
  const std::string run = trained();
  const int64_t begin = least();
  int failed = 0;
  for (const std::string& arguments : {"eval " + run + " --data " + text() + " --threads 1",
                                       "generate " + run + " -n 5 --memory 100000 --threads 1",
                                       "report " + run + " --threads 1 -o " + path("r.html")}) {
    for (int i = 0; i < rounds(4); ++i) {
      const int64_t kib = begin + i * 12000 / rounds(4);
      SCOPED_TRACE(heed::text(arguments, " within ", kib, " KiB"));
      const Outcome outcome = heed(arguments, within(kib));
      if (outcome.code == 0) continue;
      ++failed;
      expect_told(outcome, 1, {"memory"});
      expect_nothing_unfinished("");
    }
  }
  EXPECT_GT(failed, 2);
}

TEST_F(Memory, WorkGoesOnWithMore) {
  const int64_t begin = least();
  for (const Work work : kWorks) {
    do_whole(work);
    int failed = 0;
    const int turns = rounds(work == Work::kRank || work == Work::kSearch ? 5 : 2);
    for (int i = 0; i < turns; ++i) {
      const int64_t kib = begin + i * 30000 / turns;
      SCOPED_TRACE(heed::text(name(work), " within ", kib, " KiB"));
      std::filesystem::remove_all(path("run"));
      const Outcome too_little = heed(command(work, "run"), within(kib));
      if (too_little.code != 0) {
        ++failed;
        expect_told(too_little, 1, {"memory"});
      }
      expect_goes_on(work, "run");
    }
    EXPECT_GT(failed, 0) << name(work);
  }
}

// What does not fit is told before it is begun; what is begun fits.
TEST_F(Memory, OfAContainerIsKnownBefore) {
  int told = 0, done = 0;
  for (int i = 0; i < rounds(7); ++i) {
    const int64_t mib = 60 + i * 100 / rounds(7);
    SCOPED_TRACE(heed::text(mib, " MiB"));
    const std::optional<Container> container = Container::of(mib << 10);
    HEED_NEEDS(container, "a container with little memory needs the right to make control groups");
    const std::string run = heed::text("run-", mib);
    const Outcome outcome = heed("train " + tiny() + " --data " + text() +
                                     " --batch 64 --length 256 --memory 2000 --steps 4 -o " + path(run),
                                 container->entering());
    if (outcome.code == 0) {
      ++done;
    } else {
      expect_told(outcome, 1, {"are needed", "are free", "--chunks"});
      EXPECT_FALSE(std::filesystem::exists(path(run + "/metrics.jsonl")));
      ++told;
    }
  }
  EXPECT_GT(told, 0);
  EXPECT_GT(done, 0);
}

// Another program takes all there is while the work goes on, and the kernel ends the work; work that was
// about to begin finds nothing free and says so.
TEST_F(Memory, OfAContainerIsTakenByAnother) {
  int killed = 0;
  for (const Work work : kWorks) {
    do_whole(work);
    // Without what is made once for all, such as a profile of the device.
    const double begin = now_seconds();
    ASSERT_EQ(heed(command(work, heed::text("timed-", name(work)))).code, 0);
    const double seconds = now_seconds() - begin;
    for (int i = 0; i < rounds(2); ++i) {
      SCOPED_TRACE(name(work));
      std::filesystem::remove_all(path("run"));
      {
        const std::optional<Container> container = Container::of(200 << 10);
        HEED_NEEDS(container, "a container with little memory needs the right to make control groups");
        const Outcome outcome =
            with_heed(heed::text("(echo 1000 > /proc/self/oom_score_adj; ", container->entering(), "@ ",
                                 command(work, "run"), ") & sleep ", seconds * (0.1 + 0.4 * i / rounds(2)),
                                 "; (", container->entering(), "tail /dev/zero); wait $!"));
        if (outcome.code == 1) {
          expect_told(outcome, 1, {"are needed", "are free"});
        } else {
          EXPECT_TRUE(outcome.code == 0 || outcome.code == 137) << outcome.output;
        }
        killed += outcome.code == 137;
      }
      expect_goes_on(work, "run");
    }
  }
  EXPECT_GT(killed, 1);
}

// The library packs what it multiplies; without memory for that it leaves the result as it was.
TEST_F(Memory, OfAMatrixProduct) {
  constexpr int64_t n = 1500;
  std::vector<float> a(n * n, 1), b(n * n, 1), c(n * n, 0);
  kernels::warm_up_gemm();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none = {1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  const bool done = kernels::gemm_serial({false, false, n, n, n, a.data(), n, b.data(), n, 0, c.data(), n});
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(done, c[0] == n && c.back() == n);
}

#endif

}  // namespace
}  // namespace heed::test
