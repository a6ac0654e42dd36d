// What a supernet's search is told and what it reads out: settings, iterations, choices, charts.
#include <gtest/gtest.h>

#include "heed/search/supernet/charts.h"
#include "heed/search/supernet/schedule.h"

namespace heed::search {
namespace {

SupernetSettings published() {
  SupernetSettings s;
  s.layers = 32, s.steps = 50000, s.weights_only = 10000;
  return resolved(s, 0, 0, 4200);
}

TEST(SupernetSchedule, IsThePublishedOne) {
  const SupernetSchedule schedule(published());
  for (const int64_t step : {0, 4199, 9999}) EXPECT_FALSE(schedule.at(step).theta) << step;
  // An epoch of 4200 segments; the last 840 of each update the logits, once the weights have had their start.
  for (const int64_t step : {11760, 12599, 15960, 16799, 49999}) EXPECT_TRUE(schedule.at(step).theta) << step;
  for (const int64_t step : {10000, 11759, 12600, 15959, 49559})
    EXPECT_FALSE(schedule.at(step).theta) << step;
  EXPECT_EQ(schedule.theta_updates(), 8000);
}

TEST(SupernetSchedule, CountsItsUpdatesByKind) {
  for (const int64_t weights_only : {0, 3, 10, 17}) {
    SupernetSettings s;
    s.layers = 2, s.steps = 60, s.weights_only = weights_only, s.cycle = 7, s.theta_share = 0.4;
    const SupernetSchedule schedule(s);
    int64_t weights = 0, thetas = 0;
    for (int64_t step = 0; step < s.steps; ++step) {
      const Turn turn = schedule.at(step);
      EXPECT_EQ(turn.theta, step >= weights_only && step % 7 >= 4) << step;
      EXPECT_EQ(turn.number, turn.theta ? ++thetas : ++weights) << step;
    }
    EXPECT_EQ(schedule.theta_updates(), thetas);
    EXPECT_EQ(schedule.weight_updates(), weights);
  }
}

TEST(SupernetSchedule, TemperatureFallsToWhereFbnetEnds) {
  SupernetSettings s = published();
  const SupernetSchedule by_iteration(s);
  EXPECT_EQ(by_iteration.at(0).temperature, 5);
  EXPECT_EQ(by_iteration.at(10000).temperature, 5);
  // 40,000 iterations by exp(-9.0e-5) each.
  EXPECT_NEAR(by_iteration.at(10001).temperature / 5, std::exp(-9.0e-5), 1e-6);
  EXPECT_NEAR(by_iteration.at(49999).temperature, 0.137, 1e-9);
  // The trap: by epoch it would stay at 3.3 after nine of them.
  s.anneal = Anneal::kEpoch;
  const SupernetSchedule by_epoch(s);
  EXPECT_NEAR(by_epoch.at(49999).temperature, 5 * std::pow(0.956, 9), 1e-12);
  EXPECT_EQ(by_epoch.at(14199).temperature, 5);
  EXPECT_NEAR(by_epoch.at(14200).temperature, 5 * 0.956, 1e-12);
}

TEST(SupernetSchedule, AShortSearchHasTenCycles) {
  SupernetSettings s;
  s.layers = 4;
  EXPECT_EQ(resolved(s, 9, 1000, 1 << 20).cycle, 100);
  EXPECT_EQ(resolved(s, 9, 1000, 50).cycle, 50);
  EXPECT_EQ(resolved(s, 9, 1000, 50).layers, 4);
  s.layers = -1;
  EXPECT_EQ(resolved(s, 9, 1000, 50).layers, 9);
}

TEST(SupernetSchedule, TunesAsLongAsTheRecipeTrainsUnlessStepsAreGiven) {
  SupernetSettings s = resolved({}, 32, 40000, 4200);
  EXPECT_EQ(s.steps, 50000);
  EXPECT_EQ(s.weights_only, 10000);
  s = {};
  s.weights_only = 7;
  EXPECT_EQ(resolved(s, 32, 100, 50).steps, 107);
  s = {};
  s.steps = 1000;
  EXPECT_EQ(resolved(s, 32, 40000, 50).weights_only, 200);
}

TEST(SupernetSchedule, ConvergedWhenTheStringStaysForMostOfTheTuning) {
  SupernetSettings s = published();
  const SupernetSchedule schedule(s);
  EXPECT_FALSE(schedule.converged(12000, 18000));  // three quarters of 8000, but less than half of the tuning
  EXPECT_TRUE(schedule.converged(15000, 30000));
  EXPECT_FALSE(schedule.converged(15001, 30000));
  EXPECT_TRUE(schedule.converged(0, 30000));  // never changed
  s.unchanged = 0;
  EXPECT_FALSE(SupernetSchedule(s).converged(0, 50000));
}

TEST(SupernetChoice, TheFirstOfEqualsWinsAndIdentityIsDropped) {
  const Choice choice = choice_of("sfi", {{0, 0, 0}, {-1, 2, 2}, {0, 0, 3}, {1, 0, 0.5}, {-3, -2, -1}});
  EXPECT_EQ(choice.by_layer(), "sfisi");
  EXPECT_EQ(choice.found(), "sfs");
  for (const auto& layer : choice.probabilities) EXPECT_NEAR(layer[0] + layer[1] + layer[2], 1, 1e-12);
  EXPECT_NEAR(choice.probabilities[3][0], std::exp(1) / (std::exp(1) + 1 + std::exp(0.5)), 1e-12);
}

TEST(SupernetChoice, SlicesAreThirdsOfTheLayers) {
  // The first paper's string: six attention blocks of 32, none in the last third.
  std::string base;
  for (int i = 0; i < 6; ++i) base += "sfff";
  base += "ffffffff";
  Slices slices = slices_of(base);
  EXPECT_EQ(slices[0]['s'] + slices[1]['s'], 6);
  EXPECT_EQ(slices[2]['s'], 0);
  EXPECT_EQ(slices[0]['s'] + slices[0]['f'], 11);
  EXPECT_EQ(slices[2]['f'], 10);
  slices = slices_of("sfi");
  EXPECT_EQ(slices[0]['s'], 1);
  EXPECT_EQ(slices[1]['f'], 1);
  EXPECT_EQ(slices[2]['i'], 1);
}

TEST(SupernetChoice, ChartsShowEveryCell) {
  const Choice choice = choice_of("sf", {{0, 1}, {2, 0}, {0, 0}});
  const std::string chart = choice_chart(choice, "a < b & c");
  EXPECT_NE(chart.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(chart.find(">73<"), std::string::npos);  // percent of f in the first layer
  size_t framed = 0;
  for (size_t at = chart.find("#d1495b"); at != std::string::npos; at = chart.find("#d1495b", at + 1))
    ++framed;
  EXPECT_EQ(framed, 3u);
  EXPECT_NE(course_chart({{0, choice}, {90, choice}}, "over time").find(">90<"), std::string::npos);
  EXPECT_NE(course_chart({}, "over time").find("nothing was recorded"), std::string::npos);
}

TEST(SupernetSettingsTest, NonsenseIsRefusedByName) {
  const auto refused = [](auto change, const std::string& part) {
    SupernetSettings s;
    s.layers = 4, s.steps = 100;
    change(s);
    try {
      SupernetSchedule{resolved(s, 4, 100, 50)};
      ADD_FAILURE() << "accepted: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused([](auto& s) { s.letters = "s"; }, "letters is 's'; a choice needs at least two");
  refused([](auto& s) { s.letters = ""; }, "a choice needs at least two");
  refused([](auto& s) { s.letters = "sxf"; }, "'x' is not a block at character 2");
  refused([](auto& s) { s.letters = "s(fi)"; }, "write them plainly");
  refused([](auto& s) { s.letters = "sfs"; }, "'s' appears twice");
  refused([](auto& s) { s.layers = 0; }, "layers is 0");
  refused([](auto& s) { s.layers = -2; }, "layers is -2");
  refused([](auto& s) { s.steps = 0; }, "steps is 0");
  refused([](auto& s) { s.final_temperature = 6; }, "final_temperature is 6");
  refused([](auto& s) { s.temperature = 1e-300; }, "temperature is 1e-300");
  refused([](auto& s) { s.latency_term = LatencyTerm::kPower, s.alpha = 0; }, "no loss to minimise");
  refused([](auto& s) { s.latency_term = LatencyTerm::kLogPower, s.beta = 0; }, "no loss to minimise");
  refused([](auto& s) { s.anneal = Anneal::kEpoch, s.epoch_factor = 0.01, s.cycle = 2; },
          "annealing by epoch");
  refused([](auto& s) { s.weights_only = 100; }, "logits do not change for the first 100 of 100 iterations");
  refused([](auto& s) { s.weights_only = 90, s.cycle = 1000; }, "logits would never be updated");
  refused([](auto& s) { s.theta_share = 0; }, "theta_share is 0");
  refused([](auto& s) { s.theta_share = 1; }, "theta_share is 1");
  refused([](auto& s) { s.cycle = 1; }, "cycle is 1");
  refused([](auto& s) { s.temperature = 0; }, "temperature is 0");
  refused([](auto& s) { s.theta_rate = -1; }, "theta_rate is -1");
  refused([](auto& s) { s.beta = NAN; }, "beta is nan");
  refused([](auto& s) { s.epoch_factor = 2; }, "epoch_factor is 2");
  refused([](auto& s) { s.unchanged = 1.5; }, "unchanged is 1.5");
}

}  // namespace
}  // namespace heed::search
