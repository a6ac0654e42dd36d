// Too little memory. Some of what is tried fits, nothing may abort, and no number may be wrong.
#include <sys/resource.h>

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
      expect_whole_files("run");
      const Outcome rest = heed(command(work, "run"));
      EXPECT_EQ(rest.code, 0) << rest.output;
      expect_same_end(work, "run");
    }
    EXPECT_GT(failed, 0) << name(work);
  }
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
  kernels::gemm_serial({false, false, n, n, n, a.data(), n, b.data(), n, 0, c.data(), n});
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  if (c[0] == n && c.back() == n) {
    EXPECT_NO_THROW(kernels::check_products());
  } else {
    EXPECT_THROW(kernels::check_products(), Error);
  }
  EXPECT_NO_THROW(kernels::check_products());
}

#endif

}  // namespace
}  // namespace heed::test
