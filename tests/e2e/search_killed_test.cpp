#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "heed/base/clock.h"
#include "heed/base/philox.h"
#include "tests/e2e/search_support.h"

namespace heed::test {
namespace {

TEST_F(Searching, KilledAtAnyMomentLosesNothingAndEndsTheSame) {
  const std::string flags = "--strategy evolution --iterations 30 --keep 3 --no-baselines";
  ASSERT_EQ(heed(command("first", flags)).code, 0);  // with the profile
  const double begin = now_seconds();
  ASSERT_EQ(heed(command("whole", flags)).code, 0);
  const auto microseconds = static_cast<int64_t>(1e6 * (now_seconds() - begin));
  Rng rng(11);
  std::map<std::string, double> before;
  int killed = 0;
  bool resumed = false;  // with something to lose
#ifdef HEED_SANITIZED
  constexpr int kAttempts = 6;  // each takes ten times as long
#else
  constexpr int kAttempts = 20;
#endif
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Child child(command("cut", flags), path("out"));
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(microseconds)));
    child.send(SIGKILL);
    const int status = child.status();
    killed += WIFSIGNALED(status);
    if (WIFEXITED(status)) {  // too late; another one begins
      EXPECT_EQ(WEXITSTATUS(status), 0) << content(path("out"));
      std::filesystem::remove_all(path("cut"));
      before.clear();
      continue;
    }
    if (!std::filesystem::exists(path("cut/heed.db"))) continue;
    std::map<std::string, double> after;
    try {
      after = rows_of(path("cut/heed.db"));
    } catch (const Error&) {  // killed before it had tables
      EXPECT_TRUE(before.empty());
    }
    for (const auto& [key, value] : before) {
      ASSERT_TRUE(after.contains(key)) << key;
      EXPECT_EQ(after[key], value) << key;
    }
    resumed = resumed || !before.empty();
    before = std::move(after);
  }
  EXPECT_GT(killed, kAttempts / 4);
  EXPECT_TRUE(resumed);
  const Outcome last = heed(command("cut", flags));
  ASSERT_EQ(last.code, 0) << last.output;
  // Which of them another one dominates depends on times that each search has measured for itself.
  const auto models = [&](const std::string& run) {
    const Json found = Json::parse(content(path(run + "/search.json")));
    std::set<std::string> all;
    for (const char* list : {"models", "dominated"})
      for (const Json& model : found[list])
        all.insert(heed::text(model["predicted_seconds"], " ", model["spec"]));
    return all;
  };
  EXPECT_EQ(models("cut"), models("whole"));
  EXPECT_GE(models("cut").size(), 3u);
  for (const auto& [key, value] : before) EXPECT_EQ(rows_of(path("cut/heed.db")).at(key), value);
}

// Both fill the same profile from nothing.
TEST_F(Searching, TwoAtOnceOnOneDatabaseBothFinish) {
  const Child one(command("one", "--keep 2 --no-baselines"), path("out1")),
      two(command("two", "--keep 2 --no-baselines --strategy evolution"), path("out2"));
  EXPECT_EQ(one.status(), 0) << content(path("out1"));
  EXPECT_EQ(two.status(), 0) << content(path("out2"));
  EXPECT_FALSE(rows_of(path("one/heed.db")).empty());
  EXPECT_FALSE(rows_of(path("two/heed.db")).empty());
  // A folder has one search at a time: this one would go on for minutes.
  const std::string longer = "--strategy evolution --measure-all --iterations 10000 --no-baselines";
  const Child first(command("three", longer), path("out1"));
  for (int wait = 0; wait < 400 && !std::filesystem::exists(path("three/heed.db")); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(std::filesystem::exists(path("three/heed.db"))) << content(path("out1"));
  refuses(command("three", longer), 1, "is using this folder");
  first.send(SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(first.status()));
}

}  // namespace
}  // namespace heed::test
