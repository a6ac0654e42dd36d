#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "heed/base/cgroup.h"
#include "heed/base/fields.h"
#include "heed/base/philox.h"
#include "heed/base/process.h"
#include "heed/base/shared_library.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"

namespace heed {
namespace {

TEST(Units, AreReadable) {
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(12), "12 B");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(4000), "1 h 06 min");
  EXPECT_EQ(format_seconds(130332060), "1508 days");
  EXPECT_EQ(format_seconds(9e106).substr(0, 5), "89999");  // no integer holds it
  EXPECT_EQ(format_count(124439808), "124 M");
  EXPECT_EQ(format_count(1557611200), "1.6 B");
  EXPECT_EQ(format_count(2.5e12), "2.5 T");
  EXPECT_EQ(format_flops(5.469e15), "5.5 PFLOP");
  EXPECT_EQ(format_flops(1.5e9), "1.5 GFLOP");
  EXPECT_EQ(format_flops(12), "12 FLOP");
  EXPECT_EQ(format_count(76.8171), "76.8");
  EXPECT_EQ(format_plural(1, "step"), "1 step");
  EXPECT_EQ(format_plural(0, "step"), "0 steps");
  EXPECT_EQ(format_count(768), "768");
}

TEST(Units, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_count("3M", "n"), 3000000);
  EXPECT_EQ(parse_count("2.3M", "n"), 2300000);
  EXPECT_EQ(parse_count("300k", "n"), 300000);
  EXPECT_EQ(parse_count("1 G", "n"), 1000000000);
  EXPECT_EQ(parse_count("1.5B", "n"), 1500000000);
  EXPECT_EQ(parse_count("1e6", "n"), 1000000);
  EXPECT_EQ(parse_count("0", "n"), 0);
  EXPECT_EQ(parse_bytes("48MiB", "m"), 48 << 20);
  EXPECT_EQ(parse_bytes("500KB", "m"), 500000);
  EXPECT_EQ(parse_bytes("1.5 GiB", "m"), int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("500MB", "m"), 500000000);
  EXPECT_EQ(parse_bytes("7", "m"), 7);
  EXPECT_THROW(parse_bytes("48Mib", "m"), Error);
  EXPECT_EQ(parse_seconds("90", "t"), 90);
  EXPECT_EQ(parse_seconds("90s", "t"), 90);
  EXPECT_EQ(parse_seconds("5m", "t"), 300);
  EXPECT_EQ(parse_seconds("1.5h", "t"), 5400);
  EXPECT_DOUBLE_EQ(parse_seconds("250ms", "t"), 0.25);
  for (const char* wrong : {"", "M", "3X", "-3", "1.5", "nan", "inf", "3MM", "9e30", "1e18G"})
    EXPECT_THROW(parse_count(wrong, "n"), Error) << wrong;
  for (const char* wrong : {"", "s", "-1s", "3 weeks", "nan", "inf", "1e308h"})
    EXPECT_THROW(parse_seconds(wrong, "t"), Error) << wrong;
  EXPECT_THROW(parse_seconds(std::string("5\0 weeks", 8), "t"), Error);
  try {
    parse_count("many", "--tokens");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_STREQ(
        error.what(),
        "--tokens: 'many' was given; write a whole number from 0 on, such as 5000, 300K, 2.5M or 1B");
  }
}

// Known answers published with the generator (Random123).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, NormalHasMeanZeroAndVarianceOne) {
  Rng rng(1, 2);
  double sum = 0, squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double x = rng.normal();
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));  // five standard errors
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
}

struct Example {
  int64_t width = 3;
  double rate = 0.5;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("width", width, "of something");
    field("rate", rate, "of something else");
  }
};

TEST(Fields, ReadWriteAndRefuse) {
  const auto example = from_json<Example>(Json{{"width", 7}}, "example");
  EXPECT_EQ(example.width, 7);
  EXPECT_EQ(to_json(example), (Json{{"width", 7}, {"rate", 0.5}}));
  const auto message = [](const Json& json) {
    try {
      from_json<Example>(json, "example");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{"witdh", 1}}), "example: unknown setting 'witdh'; did you mean 'width'?");
  EXPECT_EQ(message({{"width", "many"}}), "example: 'width' (of something) cannot be \"many\"");
  EXPECT_EQ(message(Json::array()), "example: expected an object of settings, found array");
}

TEST(Threads, StayWithinTheLimitAndCoverEverything) {
  EXPECT_GE(available_threads(), 1);
  EXPECT_THROW(set_thread_count(0), Error);
  for (int threads : {1, 2, 5}) {
    set_thread_count(threads);
    EXPECT_EQ(threads_for(1000), 1);  // a microsecond is not worth waking anyone
    EXPECT_EQ(threads_for(1e9), threads);
    for (int64_t n : {0, 1, 3, 1000}) {
      std::vector<int> seen(static_cast<size_t>(n));
      parallel_for(n, threads, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
      parallel_range(n, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(n), 2));
    }
  }
  set_thread_count(available_threads());
}

TEST(Threads, OneThreadHoldsForItsThreadAlone) {
  set_thread_count(3);
  {
    const OneThread one;
    EXPECT_EQ(thread_count(), 1);
    EXPECT_EQ(omp_get_max_threads(), 1);
    { const OneThread nested; }
    EXPECT_EQ(thread_count(), 1);
    int elsewhere = 0;
    std::jthread([&] { elsewhere = thread_count(); }).join();
    EXPECT_EQ(elsewhere, 3);
  }
  EXPECT_EQ(thread_count(), 3);
  EXPECT_EQ(omp_get_max_threads(), 3);
  set_thread_count(available_threads());
}

TEST(Threads, TheCallerIsFreeExceptWhileAProgramRuns) {
  cpu_set_t before, inside, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  set_thread_count(available_threads());
  {
    const CoreForCaller place;
    sched_getaffinity(0, sizeof inside, &inside);
  }
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_EQ(CPU_COUNT(&before), CPU_COUNT(&after));
  const bool placed = available_threads() > 1 && available_threads() == CPU_COUNT(&before);
  EXPECT_EQ(CPU_COUNT(&inside), placed ? 1 : CPU_COUNT(&before));
}

// A file system with control groups in it.
class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("heed-cgroup-" + std::to_string(getpid()));
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void file(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  std::filesystem::path root_;
};

TEST_F(Cgroup, NoLimits) {
  EXPECT_TRUE(std::isinf(cgroup_cores(root_)));
  EXPECT_EQ(cgroup_memory_available(root_), std::numeric_limits<int64_t>::max());
  file("proc/self/cgroup", "0::/\n");
  file("sys/fs/cgroup/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_TRUE(std::isinf(cgroup_cores(root_)));
  EXPECT_EQ(cgroup_memory_available(root_), std::numeric_limits<int64_t>::max());
}

TEST_F(Cgroup, TheTightestOfNestedLimitsBinds) {
  file("proc/self/cgroup", "0::/outer/inner\n");
  file("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 1.5);
  file("sys/fs/cgroup/outer/memory.max", "1000\n");
  file("sys/fs/cgroup/outer/memory.current", "900\n");
  file("sys/fs/cgroup/outer/memory.stat", "anon 600\ninactive_file 250\n");
  EXPECT_EQ(cgroup_memory_available(root_), 350);
}

TEST_F(Cgroup, Version1) {
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 3);
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_TRUE(std::isinf(cgroup_cores(root_)));
  file("proc/self/cgroup", "9:memory:/a/b\n4:cpu,cpuacct:/c\n1:name=systemd:/d\n0::/\n");
  file("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "50000\n");
  file("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cores(root_), 0.5);
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(cgroup_memory_available(root_), std::numeric_limits<int64_t>::max());
  file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700\n");
  file("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "600\n");
  file("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 7\ntotal_inactive_file 30\n");
  EXPECT_EQ(cgroup_memory_available(root_), 130);
}

TEST(Process, KnowsItsMemory) {
  EXPECT_GT(resident_bytes(), 1 << 20);
  EXPECT_GE(peak_resident_bytes(), resident_bytes() / 2);
  EXPECT_GT(available_memory(), 1 << 20);
}

TEST(SharedLibrary, SaysWhatIsMissing) {
  SharedLibrary mathematics("libm.so.6");
  EXPECT_EQ(mathematics.function<double(double)>("floor")(2.5), 2);
  EXPECT_EQ(mathematics.problem(), "");
  EXPECT_EQ(mathematics.function<void()>("no_such_function"), nullptr);
  EXPECT_NE(mathematics.problem().find("libm.so.6 has no function no_such_function"), std::string::npos);
  SharedLibrary none("libnone.so.0");
  EXPECT_EQ(none.function<void()>("floor"), nullptr);
  EXPECT_NE(none.problem().find("libnone.so.0 cannot be loaded"), std::string::npos);
  EXPECT_NE(none.problem().find("install the Debian package"), std::string::npos);
}

}  // namespace
}  // namespace heed
