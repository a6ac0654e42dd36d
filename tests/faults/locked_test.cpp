// Two processes want one folder.
#include <chrono>
#include <thread>

#include "tests/faults/support.h"

namespace heed::test {
namespace {

class Locked : public Faults {
 protected:
  // The same work without an end, so that it is there as long as it is wanted.
  std::string endless(Work work, const std::string& out) const {
    constexpr const char* kLonger[] = {" --steps 100000000",
                                       " --measure-all --iterations 100000 --population 1000",
                                       " --steps 100000000", " --max-steps 100000000"};
    std::string all = command(work, out);
    if (work == Work::kSearch) all.replace(all.find(space()), space().size(), large_space());
    for (const char* flag : {" --steps 60", " --iterations 8", " --steps 40", " --max-steps 20"}) {
      if (const size_t at = all.find(flag); at != std::string::npos) all.erase(at, std::string(flag).size());
    }
    return all + kLonger[static_cast<int>(work)];
  }
  std::string large_space() const {
    return Verbs::space(
        {{"genes.inner", "{from = 16, to = 640, step = 16}"}, {"genes.layers", "{from = 1, to = 8}"}},
        "large.toml");
  }
  static bool wait_for(const std::string& path) {
    for (int i = 0; i < 10000 && !std::filesystem::exists(path); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::filesystem::exists(path);
  }
  static std::string begun(Work work, const std::string& out) {
    constexpr const char* kFirst[] = {"/metrics.jsonl", "/blocks.json", "/seed-1/metrics.jsonl",
                                      "/m001/metrics.jsonl"};
    return out + kFirst[static_cast<int>(work)];
  }
};

TEST_F(Locked, TheSecondIsToldWhoWorksThere) {
  for (const Work work : kWorks) {
    SCOPED_TRACE(name(work));
    const std::string run = name(work);
    const Child owner(endless(work, run), path("log"));
    ASSERT_TRUE(wait_for(begun(work, path(run)))) << content(path("log"));
    expect_told(with_heed("timeout 60 @ " + endless(work, run)), 1,
                {heed::text("process ", owner.pid(), " is using this folder"), "use another folder"});
    // Others may look.
    EXPECT_EQ(heed("report " + path(run) + " -o " + path("r.html")).code, 0);
    EXPECT_EQ(kill(owner.pid(), 0), 0) << "the owner goes on";
    owner.send(SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(owner.status()));
    // The lock's file is still there, and keeps nobody out.
    const std::string grows = begun(work, path(run));
    const auto before = content(work == Work::kSearch ? path(run) + "/heed.db-wal" : grows);
    const Child next(endless(work, run), path("log"));
    for (int i = 0; i < 3000; ++i) {
      if (content(work == Work::kSearch ? path(run) + "/heed.db-wal" : grows) != before) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    next.send(SIGTERM);
    const int status = next.status();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status << content(path("log"));
    EXPECT_TRUE(content(path("log")).find("rerun the same command to resume") != std::string::npos)
        << content(path("log"));
  }
}

// Two at the same moment: one works, the other is told, and the end is that of one.
TEST_F(Locked, TwoAtOnce) {
  do_whole(Work::kTrain);
  for (int round = 0; round < rounds(2); ++round) {
    std::filesystem::remove_all(path("run"));
    const Child one(command(Work::kTrain, "run"), path("log1")),
        two(command(Work::kTrain, "run"), path("log2"));
    const int first = one.status(), second = two.status();
    EXPECT_TRUE(first == 0 || second == 0) << content(path("log1")) << content(path("log2"));
    for (const auto& [status, log] : {std::pair{first, path("log1")}, {second, path("log2")}}) {
      if (status == 0) continue;
      EXPECT_EQ(WEXITSTATUS(status), 1);
      EXPECT_NE(content(log).find("is using this folder"), std::string::npos) << content(log);
    }
    expect_same_end(Work::kTrain, "run");
  }
}

// A number that a process of today happens to have says nothing.
TEST_F(Locked, AStaleLockKeepsNobodyOut) {
  do_whole(Work::kTrain);
  for (const std::string& stale : {heed::text(::getpid(), "\n"), std::string(), std::string(100, '9')}) {
    file("run/lock", stale);
    const Outcome outcome = heed(command(Work::kTrain, "run"));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    expect_same_end(Work::kTrain, "run");
  }
}

}  // namespace
}  // namespace heed::test
