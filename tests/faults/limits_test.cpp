// Limits the shell sets, and standard streams that are closed, full or broken.
#include "tests/faults/support.h"

namespace heed::test {
namespace {

class Limits : public Faults {};

TEST_F(Limits, OnTheSizeOfFiles) {
  for (const auto& [work, limits] : {std::pair{Work::kTrain, std::vector{60}},
                                     {Work::kSearch, std::vector{4, 60}},
                                     {Work::kSupernet, std::vector{24}},
                                     {Work::kRank, std::vector{0, 1, 4, 12, 24, 40}}}) {
    do_whole(work);
    int failed = 0;
    for (const int blocks : limits) {  // of 512 bytes
      SCOPED_TRACE(heed::text(name(work), ", ", blocks, " blocks"));
      std::filesystem::remove_all(path("run"));
      // The test's own file for standard error is held to the same limit.
      const Outcome outcome =
          with_heed("(ulimit -f " + std::to_string(blocks) + "; @ " + command(work, "run") + ") 2>&1 | cat");
      const bool told = contains(outcome, "File too large");
      EXPECT_EQ(told, contains(outcome, "heed: ")) << outcome.output;
      failed += told;
      expect_nothing_unfinished("run");
      expect_goes_on(work, "run");
    }
    EXPECT_GE(failed, 1) << name(work);
  }
  // And its code.
  const Outcome code = with_heed("(ulimit -f 1; @ " + command(Work::kTrain, "code") + ") 2>" + path("log"));
  EXPECT_EQ(code.code, 1);
}

TEST_F(Limits, OnOpenFiles) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the sanitizer needs files of its own";
#endif
  for (const Work work : kWorks) {
    do_whole(work);
    int failed = 0;
    for (const int files : work == Work::kRank ? std::vector{4, 5, 6, 7, 8, 9, 10} : std::vector{6}) {
      SCOPED_TRACE(heed::text(name(work), ", ", files, " files"));
      std::filesystem::remove_all(path("run"));
      const Outcome outcome =
          with_heed(heed::text("(ulimit -n ", files, "; exec @ ", command(work, "run"), ")"));
      if (contains(outcome, "error while loading shared libraries")) continue;
      if (outcome.code != 0) {
        ++failed;
        expect_told(outcome, 1, {"Too many open files"});
      }
      expect_goes_on(work, "run");
    }
    EXPECT_GE(failed, 1) << name(work);
  }
}

// Going on with too few files: no checkpoint is taken for damaged.
TEST_F(Limits, OnOpenFilesWhenGoingOn) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the sanitizer needs files of its own";
#endif
  do_whole(Work::kTrain);
  const std::string whole_run = path(whole(Work::kTrain));
  std::filesystem::remove_all(whole_run + "/model");
  for (const int files : {5, 7, 9}) {
    const Outcome outcome = with_heed(
        heed::text("(ulimit -n ", files, "; exec @ ", command(Work::kTrain, whole(Work::kTrain)), ")"));
    EXPECT_FALSE(contains(outcome, "damaged")) << files << ":\n" << outcome.output;
    if (outcome.code != 0 && !contains(outcome, "shared libraries"))
      expect_told(outcome, 1, {"Too many open files"});
  }
}

TEST_F(Limits, StandardOutputThatIsFull) {
  const std::string run = trained();
  for (const std::string& verb :
       {std::string("recipes"), std::string("--help"), std::string("--version"), std::string("train --help"),
        "describe " + tiny(), "eval " + run + " --data " + text(), "generate " + run + " -n 5",
        "report " + run + " -o " + path("r.html"),
        "train " + tiny() + " --data " + text() + " -o " + run + " --threads 1",
        std::string("search --list")}) {
    const Outcome full = with_heed("@ " + verb + " >/dev/full");
    EXPECT_EQ(full.code, 1) << verb << ":\n" << full.output;
    EXPECT_TRUE(contains(full, "heed: standard output cannot be written: No space left on device"))
        << verb << ":\n"
        << full.output;
    const Outcome closed = with_heed("@ " + verb + " >&-");
    EXPECT_EQ(closed.code, 1) << verb << ":\n" << closed.output;
    EXPECT_TRUE(contains(closed, "heed: standard output cannot be written: Bad file descriptor"))
        << verb << ":\n"
        << closed.output;
  }
}

TEST_F(Limits, AReaderThatHasEnough) {
  for (const char* verb : {"recipes", "--help", "search --list"}) {
    const Outcome outcome = with_heed(std::string("@ ") + verb + " | head -1");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.output, outcome.out) << "quietly";
    EXPECT_NE(outcome.out, "");
  }
}

// A file must not get the number of a stream that is closed: what is printed would go into it.
TEST_F(Limits, ClosedStreamsSpoilNoFile) {
  for (const Work work : kWorks) {
    do_whole(work);
    const std::vector<const char*> few = {"<&- >&- 2>&-"}, more = {"2>&-", "<&- >&-", "<&- >&- 2>&-"};
    for (const char* closed : work == Work::kRank ? more : few) {
      SCOPED_TRACE(heed::text(name(work), " ", closed));
      std::filesystem::remove_all(path("run"));
      const bool silent = std::string(closed).find(" >&-") != std::string::npos || closed[0] == '>';
      EXPECT_EQ(with_heed("@ " + command(work, "run") + " " + closed).code, silent ? 1 : 0);
      expect_same_end(work, "run");
    }
  }
  const std::string run = trained("trained");
  EXPECT_EQ(with_heed("@ eval " + run + " --data " + text() + " 2>&- | grep -c bpc").out, "1\n");
  EXPECT_EQ(with_heed("@ recipes --no-such-flag 2>&-").code, 2);
  EXPECT_EQ(with_heed("@ recipes 2>/dev/full").code, 0);
}

}  // namespace
}  // namespace heed::test
