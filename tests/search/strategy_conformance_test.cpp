// What every strategy of the list must do, with no code of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "heed/base/files.h"
#include "heed/base/toml.h"
#include "heed/search/records.h"
#include "heed/search/search_run.h"
#include "tests/search/made_up_search.h"
#include "tests/support/small_space.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;
using spec::Candidate, spec::Layer, spec::Space;

class EveryStrategy : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const StrategyEntry& entry : strategies()) all.push_back(entry.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, EveryStrategy, ::testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

void expect_in_space(const Space& space, const Candidate& candidate) {
  const std::vector<spec::Frame> frames = space.frames();
  EXPECT_NE(std::ranges::find(frames, candidate.frame), frames.end());
  EXPECT_NE(std::ranges::find(space.layers, static_cast<int64_t>(candidate.layers.size())),
            space.layers.end());
  for (const Layer& layer : candidate.layers) EXPECT_TRUE(space.allows(candidate.frame.width, layer));
}

// test::searched() holds each proposal against the limits, and comes back only if the strategy ends.
TEST_P(EveryStrategy, StaysInTheSpaceAndTheLimitsAndEnds) {
  Rng rng(11);
  for (int repeat = 0; repeat < 6; ++repeat) {
    test::Fixture f{test::drawn_space(rng), test::MadeUp(static_cast<uint64_t>(repeat), repeat % 2 == 0), {}};
    std::vector<Evaluated> every;
    test::each_model(f.space, [&](const Candidate& c) {
      const Cost cost = f.costs.of(c);
      every.push_back({c, cost, test::score_of(c.frame, cost)});
    });
    if (repeat % 2) {  // half of all models are too large
      const auto middle = every.begin() + static_cast<std::ptrdiff_t>(every.size() / 2);
      std::ranges::nth_element(every, middle, {}, [](const Evaluated& e) { return e.cost.total; });
      f.limits.total = middle->cost.total;
    }
    std::erase_if(every, [&](const Evaluated& e) { return !f.admits(e.cost); });
    const std::vector<Evaluated> best = test::slow_front(every, false), found = test::searched(f, GetParam());
    EXPECT_FALSE(found.empty());
    for (const Evaluated& model : found) {
      expect_in_space(f.space, model.candidate);
      EXPECT_TRUE(std::ranges::any_of(best, [&](const Evaluated& b) {
        return b.score >= model.score && b.cost.latency <= model.cost.latency &&
               b.cost.memory() <= model.cost.memory();
      })) << f.space.key_of(model.candidate);
    }
    f.limits.latency = 0;
    EXPECT_TRUE(test::searched(f, GetParam()).empty());
  }
}

TEST_P(EveryStrategy, SameSettingsSameProposals) {
  Rng rng(12);
  test::Fixture f{test::drawn_space(rng), test::MadeUp(3, true), {}};
  const auto candidates = [&] {
    std::vector<Candidate> all;
    for (Evaluated& model : test::searched(f, GetParam())) all.push_back(std::move(model.candidate));
    return all;
  };
  EXPECT_EQ(candidates(), candidates());
}

TEST_P(EveryStrategy, KnowsItsSettings) {
  const StrategyEntry& entry = strategies().find(GetParam());
  const Json defaults = entry.resolve(Json::object());
  EXPECT_EQ(defaults.size(), entry.settings.size());
  for (const DescribedField& field : entry.settings) {
    EXPECT_EQ(defaults.at(field.name), field.fallback);
    EXPECT_FALSE(field.meaning.empty());
  }
  EXPECT_EQ(entry.resolve(defaults), defaults);
  EXPECT_THROW(entry.resolve({{"no such setting", 1}}), Error);
}

// Stops when it is asked for the n-th time; never if n is 0.
class Observer : public SearchObserver {
 public:
  void training(const ShortTrainingProgress&) override {}
  explicit Observer(int64_t n = 0) : left_(n) {}
  void note(const std::string&) override {}
  bool stop() override { return left_ > 0 && --left_ == 0; }
  void profiling(const ProfileProgress&) override {}
  // A progress with an ETA needs the total.
  void searching(size_t evaluated, size_t most) override {
    total_known = most > 0;
    if (total_known) {
      EXPECT_LE(evaluated, most);
    }
  }
  void searching_share(double) override {}
  void measuring(size_t, size_t) override {}

  bool total_known = false;

 private:
  int64_t left_;
};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Everything that was evaluated, in its order.
std::vector<std::string> evaluations(const fs::path& folder) {
  std::vector<std::string> all;
  for (const RecordedEvaluation& e : read_evaluations(folder))
    all.push_back(text(e.key, " ", e.score, " ", e.cost.latency));
  return all;
}

TEST_P(EveryStrategy, GoesOnFromRecordsToTheSameEnd) {
  static const TemporaryFolder shared;  // with the profile, for all strategies
  SearchRequest request;
  request.space = spec::read_space(
      parse_toml(::heed::test::small_space({{"length", "8"}, {"genes.heads", "[2, 4]"}}), "small"), "small");
  request.space.name = "small";
  request.strategy = GetParam();
  request.keep = 1;
  request.baselines = false;
  request.profile = shared / "profile.db";
  request.record = Json::object();
  const auto run = [&](const std::string& folder, int64_t stop) {
    request.folder = shared / (GetParam() + folder);
    Observer observer(stop);
    try {
      run_search(request, observer);
      EXPECT_NE(observer.total_known, strategies().find(GetParam()).is_exhaustive);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInterrupted) << error.what();
      return false;
    }
  };
  ASSERT_TRUE(run("whole", 0));
  const std::string whole = content(shared / (GetParam() + "whole") / "frontier.csv");
  EXPECT_NE(whole, "");
  int interrupted = 0;
  for (const int64_t stop : {1, 4, 16}) {
    const std::string folder = "stopped" + std::to_string(stop);
    if (!run(folder, stop)) ++interrupted;
    EXPECT_TRUE(run(folder, 0));
    EXPECT_EQ(content(request.folder / "frontier.csv"), whole) << folder;
    EXPECT_EQ(evaluations(request.folder), evaluations(shared / (GetParam() + "whole"))) << folder;
  }
  EXPECT_GT(interrupted, 0);
}

}  // namespace
}  // namespace heed::search
