// Strategies on made-up costs: what they find is held against every model there is.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heed/search/strategies/dominated.h"
#include "heed/search/strategies/exact.h"
#include "heed/search/strategies/genes.h"
#include "tests/search/made_up_search.h"

namespace heed::search {
namespace {

using spec::Candidate, spec::Frame, spec::Layer, spec::Space;
using test::drawn_space, test::each_model, test::Fixture, test::MadeUp, test::searched, test::slow_front;

using Values = std::set<std::tuple<double, double, int64_t>>;
Values values_of(const std::vector<Evaluated>& models, Objective objective = Objective::kPrompt) {
  Values values;
  for (const Evaluated& m : models) values.insert({m.score, time_of(m.cost, objective), m.cost.memory()});
  return values;
}

TEST(Front, IsWhatItsRuleSays) {
  Rng rng(5);
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::vector<Evaluated> all(static_cast<size_t>(1 + rng.below(30)));
    for (Evaluated& e : all) {
      e.score = static_cast<double>(rng.below(8));
      e.cost.latency = static_cast<double>(rng.below(8));
      e.cost.resident = rng.below(8);
    }
    for (const FrontRule rule : {FrontRule::kNonDominated, FrontRule::kStrict}) {
      const auto expected = slow_front(all, rule == FrontRule::kStrict);
      std::vector<Evaluated> found;
      for (const size_t i : front(all, rule)) found.push_back(all[i]);
      EXPECT_EQ(found.size(), expected.size());
      EXPECT_EQ(values_of(found), values_of(expected));
    }
  }
}

TEST(Front, CornersOfAHull) {
  // Latency over score: (1, 1) and (4, 4) are its ends; (3, 2.5) lies below the line between them, (2, 2) on
  // it.
  std::vector<Evaluated> all;
  for (const auto& [score, latency] :
       {std::pair{1., 1.}, {2., 2.}, {3., 2.5}, {4., 4.}, {4., 5.}, {0.5, 1.5}})
    all.push_back({{}, {latency, 0, 0, 7, 0}, score});
  EXPECT_EQ(front(all, FrontRule::kHull), (std::vector<size_t>{3, 2, 0}));
}

TEST(Front, HypervolumeOfBoxes) {
  std::vector<Evaluated> all = {{{}, {1, 0, 0, 10, 0}, 3}};
  EXPECT_DOUBLE_EQ(hypervolume(all, 2, 20), 3 * 0.5 * 0.5);
  all.push_back({{}, {1.5, 0, 0, 5, 0}, 2});  // adds 2 * (0.25 * 0.25)
  EXPECT_DOUBLE_EQ(hypervolume(all, 2, 20), 0.75 + 2 * 0.25 * 0.25);
  all.push_back({{}, {1.5, 0, 0, 15, 0}, 2});  // dominated
  all.push_back({{}, {9, 0, 0, 1, 0}, 9});     // beyond the reference
  EXPECT_DOUBLE_EQ(hypervolume(all, 2, 20), 0.75 + 2 * 0.25 * 0.25);
}

// Pair by pair, with values that are often equal and with such as never are.
TEST(Dominated, IsWhatAPairSays) {
  Rng rng(9);
  const auto reaches = [](const Coordinates& a, const Coordinates& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return x <= y; });
  };
  int dominated_ones = 0, others = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<Coordinates> points(static_cast<size_t>(rng.below(repeat < 50 ? 60 : 800)));
    for (Coordinates& point : points) {
      point = {};
      for (size_t i = 0; i < 2 + static_cast<size_t>(repeat % 7); ++i)
        point[i] = repeat % 2 ? static_cast<double>(rng.below(4)) : rng.uniform(-1, 1);
    }
    const std::vector<uint8_t> found = dominated(points);
    ASSERT_EQ(found.size(), points.size());
    for (size_t b = 0; b < points.size(); ++b) {
      bool expected = false;
      for (size_t a = 0; a < points.size(); ++a)
        expected |= a != b && reaches(points[a], points[b]) && (a < b || points[a] != points[b]);
      EXPECT_EQ(found[b] != 0, expected) << "repeat " << repeat << ", point " << b;
      ++(expected ? dominated_ones : others);
    }
  }
  EXPECT_GT(dominated_ones, 1000);
  EXPECT_GT(others, 1000);
}

TEST(Dominated, OfManyEqualPointsOnlyTheFirstIsNot) {
  std::vector<uint8_t> expected(100, 1);
  expected[0] = 0;
  EXPECT_EQ(dominated(std::vector<Coordinates>(100, Coordinates{1, 2, 3})), expected);
}

// By brute force, with and without limits, on sums that fall together often and on such as never do.
TEST(Exact, FindsTheFrontierOfSmallSpaces) {
  Rng rng(6);
  int with_limits = 0;
  for (int repeat = 0; repeat < 72; ++repeat) {
    Fixture f{drawn_space(rng), MadeUp(static_cast<uint64_t>(repeat), repeat % 2 == 0), {}};
    if (repeat >= 36) f.gains = Gains::kWorth;
    if (repeat % 4 == 3) f.objective = Objective::kStep;
    if (repeat % 8 == 1) f.objective = Objective::kFirstToken;
    std::vector<Evaluated> all;
    const auto collect = [&] {
      all.clear();
      each_model(f.space, [&](const Candidate& c) {
        const Cost cost = f.costs.of(c);
        if (f.admits(cost)) all.push_back({c, cost, f.score(c.frame, cost)});
      });
    };
    collect();
    ASSERT_FALSE(all.empty());
    if (repeat % 3) {  // limits that some model meets
      const Cost middle = all[static_cast<size_t>(rng.below(static_cast<int64_t>(all.size())))].cost;
      if (rng.below(2)) f.limits.latency = middle.latency;
      if (rng.below(2)) f.limits.step = middle.step;
      if (rng.below(2)) f.limits.first_token = middle.first_token();
      if (rng.below(4) == 0) f.limits.file = middle.file();
      if (rng.below(2)) f.limits.memory = middle.memory();
      if (rng.below(2)) f.limits.total = middle.total;
      if (rng.below(2)) f.space.most_decoder = middle.decoder;
      if (rng.below(2)) f.space.least_decoder = middle.decoder / 2;
      if (rng.below(2)) f.space.least_total = middle.total / 2;
      if (rng.below(2)) f.space.most_total = 2 * middle.total;
      collect();
      ++with_limits;
    }
    const auto time = [&](const Evaluated& model) { return time_of(model.cost, f.objective); };
    std::map<Frame, Evaluated> highest;
    for (const Evaluated& model : all) {
      const auto [at, is_new] = highest.try_emplace(model.candidate.frame, model);
      if (!is_new && std::pair(model.score, -time(model)) > std::pair(at->second.score, -time(at->second)))
        at->second = model;
    }
    const std::vector<Evaluated> best = exact_best(f.problem());
    EXPECT_EQ(best.size(), highest.size());
    for (const Evaluated& model : best) {
      EXPECT_EQ(model.score, highest.at(model.candidate.frame).score);
      EXPECT_EQ(time(model), time(highest.at(model.candidate.frame)));
    }
    const std::vector<Evaluated> found = exact_front(f.problem());
    EXPECT_EQ(values_of(found, f.objective), values_of(slow_front(all, false, f.objective), f.objective))
        << "repeat " << repeat;
    for (const Evaluated& model : found) {
      Cost cost = f.costs.of(model.candidate);
      if (f.gains == Gains::kDecoder) cost.worth = {};  // which is then not summed
      EXPECT_EQ(cost, model.cost);
      for (const Layer& layer : model.candidate.layers)
        EXPECT_TRUE(f.space.allows(model.candidate.frame.width, layer));
    }
  }
  EXPECT_GT(with_limits, 40);
}

TEST(Exact, FindsNothingWhereNothingFits) {
  Rng rng(7);
  Fixture f{drawn_space(rng), MadeUp(1, true), {}};
  f.limits.latency = 0;
  EXPECT_TRUE(exact_front(f.problem()).empty());
}

Fixture paper_space() {
  Fixture f{spec::load_space("lts-txl"), MadeUp(3, true), {}};
  f.space.most_decoder = INT64_MAX;
  return f;
}

TEST(Evolution, GenerationsAreAsPublished) {
  Fixture f = paper_space();
  f.limits.latency = 40;
  std::vector<size_t> generations;
  const std::vector<Evaluated> all = searched(f, "evolution", &generations);
  ASSERT_EQ(generations.size(), 30u);
  EXPECT_EQ(generations[0], 100u);
  for (size_t i = 1; i < generations.size(); ++i) EXPECT_EQ(generations[i], 80u);
  EXPECT_EQ(all.size(), 2420u);
  // The same seed finds the same, another does not.
  std::vector<Evaluated> again = searched(f, "evolution");
  EXPECT_TRUE(std::equal(all.begin(), all.end(), again.begin(), again.end(),
                         [](const auto& a, const auto& b) { return a.candidate == b.candidate; }));
  f.settings["seed"] = 2;
  EXPECT_NE(searched(f, "evolution").back().candidate, all.back().candidate);
}

// On the whole published space, against 10,020 models of evolution and 10,000 drawn ones.
TEST(Exact, NothingThatOthersFindLiesBeyond) {
  Fixture f = paper_space();
  int64_t iterations = 125, samples = 10000;
#ifdef __SANITIZE_ADDRESS__  // which would take minutes for it
  f.space.width = {128, 384, 768};
  f.space.layers = {2, 4, 8};
  iterations = 10, samples = 820;
#endif
  f.limits.latency = 150;
  const auto volume = [&](const std::vector<Evaluated>& all) { return hypervolume(all, 150, 1e9); };
  f.settings = {{"iterations", iterations}};
  const std::vector<Evaluated> evolved = searched(f, "evolution");
  f.settings = {{"samples", samples}};
  const std::vector<Evaluated> drawn = searched(f, "random"), best = exact_front(f.problem());
  EXPECT_EQ(static_cast<int64_t>(evolved.size()), 100 + 80 * (iterations - 1));
  EXPECT_EQ(static_cast<int64_t>(drawn.size()), samples);
  EXPECT_GE(volume(best), volume(drawn));
  EXPECT_GE(volume(best), volume(evolved));
  // Nothing found by chance or by evolution lies beyond the exact frontier.
  std::vector<Point> points;
  for (const Evaluated& b : best) points.push_back(point_of(b));
  for (const auto& found : {evolved, drawn}) {
    for (const Evaluated& model : found) {
      const Point p = point_of(model);
      EXPECT_TRUE(std::any_of(points.begin(), points.end(), [&](const Point& b) {
        return b.score >= p.score && b.latency <= p.latency && b.memory <= p.memory;
      })) << f.space.key_of(model.candidate);
    }
  }
}

TEST(Evolution, EndsWhereHardlyAnythingFits) {
  Rng rng(8);
  Fixture f{drawn_space(rng), MadeUp(1, true), {}};
  f.space.layers = {1};
  std::vector<size_t> generations;
  EXPECT_LE(searched(f, "evolution", &generations).size(), 2500u);
  f.limits.latency = 0;
  EXPECT_TRUE(searched(f, "evolution").empty());
  EXPECT_TRUE(searched(f, "random").empty());
}

TEST(Genes, TailsAreCarriedAlong) {
  Rng rng(9);
  const Space space = spec::load_space("lts-gpt2");
  const GenePool pool(space);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Genes a = pool.draw(rng), b = pool.draw(rng);
    EXPECT_EQ(a.sizes["inner"].size(), 16u);
    const auto candidate = pool.decode(a);
    ASSERT_TRUE(candidate);  // what is drawn fits
    EXPECT_EQ(static_cast<int64_t>(candidate->layers.size()), a.layers);
    const Genes same = pool.mutate(a, 0, rng);
    EXPECT_EQ(pool.decode(same), candidate);
    EXPECT_EQ(same.sizes, a.sizes);
    const Genes child = pool.cross(a, b, 0.5, rng);
    const auto heads = [](const Genes& genes, size_t i) { return genes.sizes["heads"][i]; };
    for (size_t i = 0; i < 16; ++i)
      EXPECT_TRUE(heads(child, i) == heads(a, i) || heads(child, i) == heads(b, i));
    if (const auto crossed = pool.decode(child)) {
      for (const Layer& layer : crossed->layers) EXPECT_GE(layer.sizes["inner"], 2 * crossed->frame.width);
    }
  }
}

}  // namespace
}  // namespace heed::search
