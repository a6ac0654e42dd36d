// The disk fills up at some moment of the work. The smaller it is, the earlier.
#include "tests/faults/support.h"

namespace heed::test {
namespace {

constexpr int64_t kPlenty = 65536;  // KiB

int64_t kib_of(const std::string& folder) {
  int64_t kib = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    kib += entry.is_regular_file() ? static_cast<int64_t>(entry.file_size()) / 4096 * 4 + 4 : 4;
  return kib;
}

class DiskFull : public Faults {
 protected:
  void SetUp() override {
    HEED_NEEDS(SmallDisk::possible(), "a disk of its own: this needs the right to mount");
  }

  // At `sizes` sizes from nearly nothing to a little more than what is left in the end.
  void fills_up_in(Work work, int sizes) const {
    do_whole(work);
    const int64_t all = kib_of(path(whole(work)));
    int failed = 0;
    for (int i = 1; i <= sizes; ++i) {
      const int64_t kib = 4 + all * i * 5 / (4 * sizes);
      SCOPED_TRACE(heed::text(name(work), " on ", kib, " KiB"));
      const SmallDisk disk(path("disk"), kib);
      const Outcome full = heed(command(work, "disk/run"));
      if (full.code != 0) {
        ++failed;
        expect_told(full, 1, {"No space left on device", "free some space and run the same command again"});
        expect_nothing_unfinished("disk/run");
      }
      disk.resize(kPlenty);
      expect_goes_on(work, "disk/run");
    }
    EXPECT_GE(failed, sizes / 2);
  }
};

TEST_F(DiskFull, WhileTraining) { fills_up_in(Work::kTrain, rounds(4)); }
TEST_F(DiskFull, WhileSearching) { fills_up_in(Work::kSearch, rounds(4)); }
TEST_F(DiskFull, WhileSearchingWithASupernet) { fills_up_in(Work::kSupernet, rounds(2)); }
TEST_F(DiskFull, WhileRanking) { fills_up_in(Work::kRank, rounds(6)); }

// The disk of the profile only: what was measured stays, and the search goes on from it.
TEST_F(DiskFull, UnderTheProfile) {
  const SmallDisk disk(path("disk"), 100);
  const std::string search = "search " + space() + " --keep 2 --no-baselines --threads 1 --profile " +
                             path("disk/p.db") + " -o " + path("run");
  for (const int64_t kib : {4, 20, 44, 60}) {
    SCOPED_TRACE(kib);
    std::filesystem::remove_all(path("run"));
    for (const char* left : {"p.db", "p.db-wal", "p.db-shm"}) std::filesystem::remove(path("disk/") + left);
    disk.resize(kib);
    expect_told(heed(search), 1, {"p.db", "free some space and run the same command again"});
    disk.resize(kPlenty);
    const Outcome rest = heed(search);
    EXPECT_EQ(rest.code, 0) << rest.output;
    expect_whole_files("disk");
  }
}

// A page that cannot be written leaves the one of before.
TEST_F(DiskFull, UnderTheReport) {
  const std::string run = trained();
  const SmallDisk disk(path("disk"), kPlenty);
  const std::string report =
      "report " + run + " --profile " + file("none.db", "") + " -o " + path("disk/r.html");
  disk.resize(16);
  expect_told(heed(report), 1, {"r.html", "No space left on device"});
  EXPECT_TRUE(std::filesystem::is_empty(path("disk")));
  disk.resize(kPlenty);
  ASSERT_EQ(heed(report).code, 0);
  const std::string before = content(path("disk/r.html"));
  disk.resize(kib_of(path("disk")) + 8);
  expect_told(heed(report), 1, {"r.html", "No space left on device"});
  EXPECT_EQ(content(path("disk/r.html")), before);
  expect_nothing_unfinished("disk");
}

// Scoring and writing text need no disk, but for the tokens of the text.
TEST_F(DiskFull, UnderTheTokensOfAnEvaluation) {
  const std::string run = trained();
  const SmallDisk disk(path("disk"), 4);
  const std::string eval = "eval " + run + " --part train --max-tokens 200 --data " + text() + " --threads 1";
  const Outcome kept = heed(eval + " --cache " + path("disk"));
  expect_told(kept, 1, {"tokens of the train part", "No space left on device"});
  EXPECT_TRUE(std::filesystem::is_empty(path("disk")));
  expect_told(heed(eval, "TMPDIR=" + path("disk")), 1, {"No space left on device"});
  disk.resize(kPlenty);
  const auto first_line = [](const std::string& all) { return all.substr(0, all.find('\n')); };
  EXPECT_EQ(first_line(heed(eval + " --cache " + path("disk")).out), first_line(heed(eval).out));
  for (const auto& entry : std::filesystem::directory_iterator(path("disk")))
    std::filesystem::remove(entry.path());
  disk.resize(4);
  EXPECT_EQ(heed("generate " + run + " -n 5", "TMPDIR=" + path("disk")).code, 0);
}

}  // namespace
}  // namespace heed::test
