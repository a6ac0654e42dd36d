// The profile of a device: kept, gone on with, added up.
#include <gtest/gtest.h>

#include "heed/base/files.h"
#include "heed/base/toml.h"
#include "heed/search/profiled_costs.h"
#include "tests/support/small_space.h"

namespace heed::search {
namespace {

using measure::DeviceProfile, measure::Timing;

spec::Space small_space() {
  const std::string toml = test::small_space({{"model.vocabulary", "100"},
                                              {"genes.layer", "[\"sf\", \"f\", \"a\"]"},
                                              {"genes.heads", "[2, 4]"},
                                              {"genes.inner", "[16, 32, 48]"},
                                              {"genes.projection", "8"}});
  return spec::read_space(parse_toml(toml, "t"), "t");
}

measure::Device device(const char* cpu) {
  measure::Device device;
  device.cpu = cpu;
  return device;
}

TEST(DeviceProfile, IsKeptByDevice) {
  const TemporaryFolder folder;
  {
    const store::Database database(folder / "p.db");
    DeviceProfile profile(database, device("one"));
    profile.add({{"a", {1, 0.5, 2, 7}}, {"b", {3, 3, 3, 1}}});
    profile.add({{"a", {1.5, 0.6, 3, 9}}});
    profile.add({{"a", {9, 8, 10, 2}}});
    EXPECT_EQ(profile.rounds("a").size(), 3u);
    EXPECT_EQ(profile.rounds("b").size(), 1u);
    EXPECT_TRUE(profile.rounds("c").empty());
  }
  const store::Database database(folder / "p.db");
  const DeviceProfile same(database, device("one")), other(database, device("two"));
  ASSERT_TRUE(same.find("a"));
  EXPECT_EQ(same.find("a")->median, 1.5);
  EXPECT_EQ(same.find("a")->low, 0.5);
  EXPECT_EQ(same.find("a")->high, 10);
  EXPECT_EQ(same.find("a")->runs, 18);
  EXPECT_EQ(same.pieces().size(), 2u);
  EXPECT_FALSE(same.find("c"));
  EXPECT_TRUE(other.pieces().empty());
}

// Timed at a moment when the machine was slower than usual.
TEST(DeviceProfile, IsScaledToWhatTheYardstickUsuallyTakes) {
  const TemporaryFolder folder;
  const store::Database database(folder / "p.db");
  {
    DeviceProfile profile(database, device("one"));
    EXPECT_EQ(profile.reference(), 0);
    profile.add({{"a", {1, 1, 1, 4, 0.002}}, {"b", {1, 1, 1, 4, 0.002}}, {"c", {1, 1, 1, 4, 0.002}}});
    profile.add({{"d", {3, 3, 3, 4, 0.003}}});
    EXPECT_DOUBLE_EQ(profile.reference(), 0.002);
    EXPECT_DOUBLE_EQ(profile.find("d")->median, 2);
  }
  const DeviceProfile same(database, device("one"));
  EXPECT_DOUBLE_EQ(same.reference(), 0.002);
  EXPECT_DOUBLE_EQ(same.find("d")->median, 2);
  EXPECT_DOUBLE_EQ(same.find("a")->median, 1);
}

TEST(DeviceProfile, OfVersion010HasNoYardstick) {
  const TemporaryFolder folder;
  const store::Database database(folder / "p.db");
  database.execute(
      "CREATE TABLE devices (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE NOT NULL, description TEXT NOT "
      "NULL, first_seen TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)");
  database.execute(
      "CREATE TABLE timings (device INTEGER NOT NULL REFERENCES devices(id), piece TEXT NOT NULL, round "
      "INTEGER NOT NULL, median REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, runs INTEGER NOT NULL, "
      "measured TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (device, piece, round))");
  database.execute("INSERT INTO devices (fingerprint, description) VALUES ('f', '{}')");
  database.execute(
      "INSERT INTO timings (device, piece, round, median, low, high, runs) VALUES (1, 'a', 0, 3, 2, 4, 5)");
  EXPECT_EQ(measure::read_timings(database, 1).rounds.at("a").at(0).median, 3);
  DeviceProfile profile(database, device("two"));
  profile.add({{"a", {1, 1, 1, 4, 0.002}}});
  EXPECT_EQ(measure::read_timings(database, 1).rounds.at("a").at(0).yardstick, 0);
  EXPECT_EQ(DeviceProfile(database, device("two")).rounds("a").at(0).yardstick, 0.002);
}

TEST(DeviceProfile, HoldsEveryPieceOfASpaceOnce) {
  const TemporaryFolder folder;
  const store::Database database(folder / "p.db");
  DeviceProfile profile(database, measure::this_device());
  const spec::Space space = small_space();
  std::vector<ProfileProgress> reports;
  fill_profile(space, profile, [&](const ProfileProgress& p) { reports.push_back(p); });
  // For each of two widths: attention with 2 and 4 heads, three inner widths, one recurrence; and a frame. At
  // a prompt and at a step, in three rounds, or more where they do not agree.
  EXPECT_EQ(reports.front().all, 2 * 3 * 2u * (2 + 3 + 1 + 1));
  EXPECT_EQ(reports.front().done, 0u);
  EXPECT_EQ(reports.back().done, reports.back().all);
  EXPECT_NEAR(reports.back().share, 1, 1e-9);
  EXPECT_EQ(profile.pieces().size(), 28u);
  for (const auto& [key, timing] : profile.pieces()) {
    EXPECT_GT(timing.median, 0) << key;
    EXPECT_LE(timing.low, timing.median) << key;
    EXPECT_TRUE(measure::settled(profile.rounds(key))) << key;
    // Every round has 4 runs at least that count; rounds that another program disturbed are left out, but
    // never all of them.
    EXPECT_GE(profile.rounds(key).size(), measure::kLeastRounds) << key;
    int in_all = 0;
    for (const measure::Timing& round : profile.rounds(key)) {
      EXPECT_GE(round.runs, 4) << key;
      in_all += round.runs;
    }
    EXPECT_GE(in_all, 12) << key;
    EXPECT_GE(timing.runs, 4) << key;
  }
  // All known: nothing is measured again.
  const auto before = profile.pieces();
  reports.clear();
  fill_profile(space, profile, [&](const ProfileProgress& p) { reports.push_back(p); });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].done, reports[0].all);
  for (const auto& [key, timing] : before) EXPECT_EQ(profile.find(key)->median, timing.median);
}

TEST(DeviceProfile, GoesOnWhereItWasInterrupted) {
  const TemporaryFolder folder;
  const store::Database database(folder / "p.db");
  DeviceProfile profile(database, measure::this_device());
  const spec::Space space = small_space();
  EXPECT_THROW(fill_profile(space, profile,
                            [](const ProfileProgress& p) {
                              if (p.done > 0) throw std::runtime_error("stop");
                            }),
               std::runtime_error);
  DeviceProfile again(database, measure::this_device());
  EXPECT_FALSE(again.pieces().empty());
  EXPECT_LT(again.pieces().size(), 28u);
  size_t timed = 0;
  for (const auto& [key, timing] : again.pieces()) timed += again.rounds(key).size();
  std::vector<size_t> done;
  fill_profile(space, again, [&](const ProfileProgress& p) { done.push_back(p.done); });
  EXPECT_EQ(done.front(), timed);  // they are not measured again
  EXPECT_EQ(again.pieces().size(), 28u);
}

TEST(DeviceProfile, LatencyIsTheSumOfPieces) {
  const TemporaryFolder folder;
  const store::Database database(folder / "p.db");
  DeviceProfile here(database, measure::this_device()), profile(database, device("told"));
  const spec::Space space = small_space();
  EXPECT_THROW(ProfiledCosts(space, profile).of_frame({16, 0, 1, 100}), Error);
  fill_profile(space, here, [](const ProfileProgress&) {});
  // Times that tell which pieces were added.
  std::map<std::string, Timing> times;
  double next = 1;
  for (const auto& [key, timing] : here.pieces()) times[key] = {next, next, next, 1}, next *= 2;
  profile.add(times);
  profile.save_load_pace({8192, 1024, 0.25});
  ProfiledCosts costs(space, profile);
  const spec::Frame frame{16, 0, 1, 100};
  const spec::Layer attends{0, {{"heads", 2}, {"inner", 32}}}, feeds{1, {{"inner", 32}}},
      recurs{2, {{"projection", 8}}};
  const double whole = costs.of({frame, {attends, feeds, recurs}}).latency;
  EXPECT_EQ(whole, costs.of_frame(frame).latency + costs.of_layer(16, attends).latency +
                       costs.of_layer(16, feeds).latency + costs.of_layer(16, recurs).latency);
  const auto step = [&](const spec::Layer& layer) { return costs.of_layer(16, layer).step; };
  EXPECT_EQ(costs.of({frame, {attends, feeds, recurs}}).step,
            costs.of_frame(frame).step + step(attends) + step(feeds) + step(recurs));
  EXPECT_NE(step(recurs), costs.of_layer(16, recurs).latency);  // another piece
  // What attends is followed by a feed-forward: four blocks in all.
  const Cost all = costs.of({frame, {attends, feeds, recurs}});
  EXPECT_EQ(all.load, 8192 + 4 * 1024 + 0.25 * static_cast<double>(all.resident - costs.beside(100)));
  // The feed-forward of both layers is the same piece.
  const double attention = costs.of_layer(16, attends).latency - costs.of_layer(16, feeds).latency;
  EXPECT_EQ(std::exp2(std::round(std::log2(attention))), attention);
  EXPECT_EQ(costs.of_layer(16, {0, {{"heads", 2}, {"inner", 48}}}).latency -
                costs.of_layer(16, {1, {{"inner", 48}}}).latency,
            attention);
  EXPECT_NE(costs.of_layer(16, {0, {{"heads", 4}, {"inner", 32}}}).latency,
            costs.of_layer(16, attends).latency);
}

}  // namespace
}  // namespace heed::search
