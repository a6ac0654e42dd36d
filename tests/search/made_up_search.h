// A search on made-up costs, which takes no time and can be held against every model there is.
#pragma once

#include <gtest/gtest.h>

#include "heed/base/philox.h"
#include "heed/search/strategies/strategies.h"

namespace heed::search::test {

using spec::Candidate, spec::Frame, spec::Layer, spec::Space;

// Costs without rounding: sums are the same in any order.
class MadeUp : public Costs {
 public:
  explicit MadeUp(uint64_t seed, bool lattice) : seed_(seed), lattice_(lattice) {}
  Cost of_frame(const Frame& f) override {
    Rng rng(seed_ + 1,
            static_cast<uint32_t>(7 * f.width + 31 * f.embedding_width + 101 * f.division + f.vocabulary));
    Cost cost{eighths(rng, 20), 2 * f.width, 2 * f.width + rng.below(50) * f.width, rng.below(3000),
              rng.below(300)};
    cost.step = eighths(rng, 10);
    cost.load = eighths(rng, 10);
    return cost;
  }
  Cost of_layer(int64_t width, const Layer& l) override {
    const int64_t inner = l.sizes["inner"];
    Rng rng(seed_, static_cast<uint32_t>(width + 1000 * l.kind + 7919 * l.sizes["heads"] + 104729 * inner +
                                         13 * l.sizes["projection"]));
    const int64_t decoder = lattice_ ? width * width + (2 * width + 1) * inner : 1 + rng.below(4000);
    // As on a device: in proportion to the work, give or take a tenth.
    const auto work = static_cast<double>(5 * width * width + 2 * width * inner);
    const double latency = lattice_ ? 0x1p-20 * std::round(work * rng.uniform(0.9, 1.1)) : eighths(rng, 40);
    Cost cost{latency, decoder, decoder, 4 * decoder + (lattice_ ? 0 : rng.below(500)),
              10 * inner + rng.below(3) * 100};
    cost.worth = {1 + rng.below(30), rng.below(3)};
    cost.step = eighths(rng, 12);
    cost.load = lattice_ ? 0x1p-20 * static_cast<double>(decoder) : eighths(rng, 12);
    return cost;
  }

 private:
  static double eighths(Rng& rng, int64_t most) { return 0.125 * static_cast<double>(1 + rng.below(most)); }
  uint64_t seed_;
  bool lattice_;
};

inline Space drawn_space(Rng& rng) {
  Space space;
  space.layer = rng.below(2) ? std::vector<std::string>{"sf"} : std::vector<std::string>{"a", "sf", "f"};
  space.layers = rng.below(2) ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 4};
  space.width = {16, 32};
  space.sizes = {{"heads", {2, 4}}, {"inner", {16, 32, 48, 64}}, {"projection", {8, 16}}};
  space.embedding_width = rng.below(2) ? std::vector<int64_t>{0} : std::vector<int64_t>{8, 16};
  space.division = {1, 2};
  space.vocabulary = {100};
  space.over_width["inner"] = rng.below(2) ? 1 : 0;
  return space;
}

// Every model, layers in order: their order changes nothing.
inline void each_model(const Space& space, const std::function<void(const Candidate&)>& visit) {
  for (const Frame& frame : space.frames()) {
    const std::vector<Layer> options = space.options(frame.width);
    for (const int64_t depth : space.layers) {
      Candidate candidate{frame, {}};
      const std::function<void(size_t)> grow = [&](size_t from) {
        if (static_cast<int64_t>(candidate.layers.size()) == depth) return visit(candidate);
        for (size_t i = from; i < options.size(); ++i) {
          candidate.layers.push_back(options[i]);
          grow(i);
          candidate.layers.pop_back();
        }
      };
      grow(0);
    }
  }
}

inline double score_of(const Frame& frame, const Cost& cost) {
  return static_cast<double>(cost.decoder) * (frame.embedding_width == 8 ? 0.75 : 1);
}
// A law of worth for which slow models are worse: they see less text in the same time.
inline double score_by_worth(const Frame& frame, const Cost& cost) {
  return -(frame.embedding_width == 8 ? 5.0 : 4.0) / (1 + static_cast<double>(cost.worth[0])) -
         1.0 / (1 + static_cast<double>(cost.worth[1])) - 0.01 * cost.latency;
}

struct Fixture {
  Space space;
  MadeUp costs;
  Limits limits;
  Json settings = Json::object();  // of the strategy
  Gains gains = Gains::kDecoder;
  Objective objective = Objective::kPrompt;

  SearchProblem problem() {
    return {space,
            limits,
            costs,
            {},
            [this](const Frame& frame, const Cost& cost) { return score(frame, cost); },
            [this](const Candidate& c) { return admits(costs.of(c)); },
            gains,
            objective};
  }
  double score(const Frame& frame, const Cost& cost) const {
    return gains == Gains::kWorth ? score_by_worth(frame, cost) : score_of(frame, cost);
  }
  bool admits(const Cost& cost) const {
    return limits.admit(cost) && space.allows_size(cost.decoder, cost.total);
  }
};

// By definition, pair by pair.
inline std::vector<Evaluated> slow_front(const std::vector<Evaluated>& all, bool strict,
                                         Objective objective = Objective::kPrompt) {
  const auto time = [&](const Evaluated& e) { return time_of(e.cost, objective); };
  std::vector<Evaluated> kept;
  for (const Evaluated& a : all) {
    bool dominated = false;
    for (const Evaluated& b : all) {
      const bool better[] = {b.score > a.score, time(b) < time(a), b.cost.memory() < a.cost.memory()};
      const bool worse[] = {b.score<a.score, time(b)> time(a), b.cost.memory() > a.cost.memory()};
      dominated |= strict ? better[0] && better[1] && better[2]
                          : (better[0] || better[1] || better[2]) && !worse[0] && !worse[1] && !worse[2];
    }
    if (!dominated) kept.push_back(a);
  }
  return kept;
}

// A strategy alone, with everything it proposes evaluated by the costs.
inline std::vector<Evaluated> searched(Fixture& f, const std::string& name,
                                       std::vector<size_t>* generations = nullptr) {
  const StrategyEntry& entry = strategies().find(name);
  const SearchProblem problem = f.problem();
  const auto strategy = entry.make(problem, entry.resolve(f.settings));
  std::vector<Evaluated> all;
  for (;;) {
    std::vector<Evaluated> batch;
    for (const Candidate& c : strategy->propose()) {
      const Cost cost = f.costs.of(c);
      EXPECT_TRUE(f.admits(cost)) << f.space.key_of(c);
      batch.push_back({c, cost, score_of(c.frame, cost)});
    }
    if (batch.empty()) return all;
    if (generations) generations->push_back(batch.size());
    strategy->observe(batch);
    all.insert(all.end(), batch.begin(), batch.end());
  }
}

}  // namespace heed::search::test
