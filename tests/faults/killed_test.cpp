// Killed at moments that nobody chose. Whatever was on disk then is gone on from, to the same end.
#include <chrono>
#include <thread>

#include "heed/base/clock.h"
#include "heed/base/philox.h"
#include "tests/faults/support.h"

namespace heed::test {
namespace {

class Killed : public Faults {
 protected:
  // Starts the work `kills` times, each time for a while that chance tells, then lets it end.
  void goes_on(Work work, uint64_t seed, int kills) const {
    SCOPED_TRACE(heed::text(name(work), ", seed ", seed));
    std::filesystem::remove_all(path("cut"));
    Rng rng(seed);
    int killed = 0;
    for (int i = 0; i < kills; ++i) {
      const Child child(command(work, "cut"), path("log"));
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(static_cast<int64_t>(1e6 * seconds_))));
      child.send(SIGKILL);
      const int status = child.status();
      killed += WIFSIGNALED(status);
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0) << content(path("log"));
      }
      expect_whole_files("cut");
    }
    expect_goes_on(work, "cut");
    killed_ += killed;
  }

  void killed_often(Work work, int turns, int kills) {
    do_whole(work);  // with what the first run only makes
    std::filesystem::remove_all(path(whole(work)));
    const double begin = now_seconds();
    do_whole(work);
    seconds_ = now_seconds() - begin;
    for (int turn = 1; turn <= turns; ++turn) goes_on(work, static_cast<uint64_t>(turn), kills);
    EXPECT_GT(killed_, 0);
    std::printf("%s: killed %d times in %d runs of %.2f s\n", name(work), killed_, turns, seconds_);
  }

  double seconds_ = 0;
  mutable int killed_ = 0;
};

TEST_F(Killed, WhileTraining) { killed_often(Work::kTrain, rounds(2), 4); }
TEST_F(Killed, WhileSearching) { killed_often(Work::kSearch, rounds(4), 4); }
TEST_F(Killed, WhileSearchingWithASupernet) { killed_often(Work::kSupernet, rounds(1), 4); }
TEST_F(Killed, WhileRanking) { killed_often(Work::kRank, rounds(4), 4); }

}  // namespace
}  // namespace heed::test
