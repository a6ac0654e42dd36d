// What a run stands on goes away or changes: its text, its folder, the clock.
#include <chrono>
#include <thread>

#include "tests/faults/support.h"

namespace heed::test {
namespace {

class Vanished : public Faults {
 protected:
  // Begun and killed some time later.
  void begin(Work work, const std::string& out, int milliseconds) const {
    const Child child(command(work, out), path("log"));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    child.send(SIGKILL);
    child.status();
  }
  std::string with_text(Work work, const std::string& out, const std::string& text_file) const {
    std::string all = command(work, out);
    const size_t at = all.find("--data ") + 7;
    return all.replace(at, all.find(' ', at) - at, text_file);
  }
};

TEST_F(Vanished, TheTextBetweenTwoStarts) {
  for (const Work work : {Work::kSupernet, Work::kRank}) {
    SCOPED_TRACE(name(work));
    do_whole(work);
    const std::string words = content(text());
    const std::string mine = file("mine.txt", words);
    const std::string again = with_text(work, "run", mine);
    std::filesystem::remove_all(path("run"));
    ASSERT_EQ(heed(again).code, 0);
    std::filesystem::remove(mine);
    expect_told(heed(again), 2, {"mine.txt", "does not exist"});
    file("mine.txt", words + "more\n");
    expect_told(heed(again), 2,
                {"this run was started with another text", "use another folder, or the same text"});
    std::string changed = words;
    changed[100] = 'X';
    file("mine.txt", changed);
    expect_told(heed(again), 2, {"this run was started with another text"});
    file("mine.txt", "");
    expect_told(heed(again), 2, {"mine.txt", "is empty"});
    file("mine.txt", words);
    const Outcome rest = heed(again);
    EXPECT_EQ(rest.code, 0) << rest.output;
    expect_same_end(work, "run");
  }
}

// Training reads its tokens from the folder: it may go on without the text, and when the text changes.
TEST_F(Vanished, TheTextDuringARun) {
  do_whole(Work::kTrain);
  const std::string mine = file("mine.txt", content(text()));
  const Child child(with_text(Work::kTrain, "run", mine), path("log"));
  for (int i = 0; i < 10000 && !std::filesystem::exists(path("run/metrics.jsonl")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::filesystem::resize_file(mine, 10);
  const int status = child.status();
  const std::string log = content(path("log"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    expect_same_end(Work::kTrain, "run");
  } else {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status << log;
    EXPECT_NE(log.find("heed: "), std::string::npos) << log;
  }
}

// A text that is cut off while it is read.
TEST_F(Vanished, PartOfAFileThatIsBeingRead) {
  std::string words;
  for (int i = 0; i < 1 << 20; ++i) words += "the cat sat on the mat. a dog ate the fog.\n";
  const std::string run = trained();
  int cut = 0;
  for (int i = 0; i < rounds(3); ++i) {
    const std::string large = file("large.txt", words);
    const Child child(
        "eval " + run + " --part train --max-tokens 100 --cache " + path("cache") + " --data " + large,
        path("log"));
    std::this_thread::sleep_for(std::chrono::milliseconds(60 + 60 * (i % 5)));
    std::filesystem::resize_file(large, 4096);
    const int status = child.status();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++cut;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
    EXPECT_NE(content(path("log")).find("heed: a file that was being read has become shorter"),
              std::string::npos)
        << content(path("log"));
  }
  EXPECT_GT(cut, 0);
}

TEST_F(Vanished, TheFolderOfARun) {
  for (const Work work : kWorks) {
    for (const bool moved : {false, true}) {
      SCOPED_TRACE(heed::text(name(work), moved ? ", moved" : ", removed"));
      std::string longer = command(work, "gone");
      for (const auto& [from, to] : {std::pair{"--steps 60 ", "--steps 3000 "},
                                     {"--steps 40 ", "--steps 3000 "},
                                     {"--iterations 8 ", "--iterations 400 --measure-all "},
                                     {"--max-steps 20 ", "--max-steps 3000 "}}) {
        if (const size_t at = longer.find(from); at != std::string::npos)
          longer.replace(at, std::string(from).size(), to);
      }
      std::filesystem::remove_all(path("gone"));
      std::filesystem::remove_all(path("elsewhere"));
      const Child child(longer, path("log"));
      const char* first = work == Work::kSearch     ? "blocks.json"
                          : work == Work::kSupernet ? "seed-1/metrics.jsonl"
                          : work == Work::kRank     ? "m001/metrics.jsonl"
                                                    : "metrics.jsonl";
      for (int i = 0; i < 10000 && !std::filesystem::exists(path("gone/") + first); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      // Well into the work; the search is done within milliseconds of its first file.
      if (work != Work::kSearch) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      child.send(SIGSTOP);
      std::error_code busy;
      if (moved) std::filesystem::rename(path("gone"), path("elsewhere"));
      for (int i = 0; !moved && i < 100 && std::filesystem::exists(path("gone")); ++i)
        std::filesystem::remove_all(path("gone"), busy);
      child.send(SIGCONT);
      const int status = child.status();
      const std::string log = content(path("log"));
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status << log;
      // In the middle of saving, a file that is no longer there says it first.
      const bool between = log.find("No such file or directory") != std::string::npos;
      const bool noticed =
          log.find("was moved or removed while this process worked in it") != std::string::npos;
      EXPECT_TRUE(noticed || between) << log;
      EXPECT_FALSE(std::filesystem::exists(path("gone/config.json")));
      if (noticed) {
        EXPECT_FALSE(std::filesystem::exists(path("gone"))) << "nothing is begun there again";
      }
      expect_whole_files("elsewhere");
    }
  }
}

// The clock that runs count by begins anew with the machine.
TEST_F(Vanished, TheTimeOfBefore) {
  const std::string later = "unshare -T --monotonic 90000000 --boottime 90000000";
  HEED_NEEDS(::geteuid() == 0 && std::system((later + " true 2>/dev/null").c_str()) == 0,
             "another clock: this needs root");
  for (const Work work : {Work::kTrain}) {
    do_whole(work);
    std::filesystem::remove_all(path("run"));
    begin(work, "run", 150);
    const Outcome jumped = heed(command(work, "run"), later);
    EXPECT_EQ(jumped.code, 0) << jumped.output;
    expect_same_end(work, "run");
    for (const auto& line :
         store::read_lines(path(work == Work::kTrain ? "run/metrics.jsonl" : "run/seed-1/metrics.jsonl"))) {
      EXPECT_LT(line.value("seconds", 0.0), 1000);
    }
  }
}

}  // namespace
}  // namespace heed::test
