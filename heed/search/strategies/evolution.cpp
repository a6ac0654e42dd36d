#include "heed/search/strategies/evolution.h"

#include <map>

#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

// After this many useless draws in a row, a generation stays as small as it is.
constexpr int64_t kMostAttempts = 20000;

struct EvolutionSettings {
  int64_t seed = 1111;
  int64_t population = 100;
  int64_t parents = 20;
  int64_t mutants = 40;
  int64_t crossovers = 40;
  double mutation = 0.3;
  double crossover = 0.5;
  int64_t iterations = 30;
  FrontRule front = FrontRule::kNonDominated;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("seed", seed, "seed of everything drawn");
    field("population", population, "models in the first generation");
    field("parents", parents, "drawn from the frontier for each generation");
    field("mutants", mutants, "children of one parent in each generation");
    field("crossovers", crossovers, "children of two parents in each generation");
    field("mutation", mutation, "probability that a gene of a mutant is drawn again");
    field("crossover", crossover, "probability that a gene comes from the first parent");
    field("iterations", iterations, "generations");
    field("front", front, "which models parents are drawn from: non-dominated, strict or hull");
  }
};

void validate(const EvolutionSettings& s) {
  check_positive("population", s.population);
  check_positive("parents", s.parents);
  check_positive("iterations", s.iterations);
  if (s.mutants < 0 || s.crossovers < 0 || s.mutants + s.crossovers == 0)
    throw usage_error("search: ", s.mutants, " mutants and ", s.crossovers,
                      " crossovers do not make a generation; at least one must be positive");
  for (const double probability : {s.mutation, s.crossover}) {
    if (!(probability >= 0 && probability <= 1))
      throw usage_error("search: a probability of ", probability, " is not in [0, 1]");
  }
}

class Evolution : public Strategy {
 public:
  Evolution(const SearchProblem& problem, const EvolutionSettings& settings)
      : problem_(problem),
        settings_(settings),
        pool_(problem_.space),
        rng_(static_cast<uint64_t>(settings.seed)) {}

  std::vector<spec::Candidate> propose() override {
    const EvolutionSettings& s = settings_;
    if (generation_++ == 0) {
      add(s.population, false, [&] { return pool_.draw(rng_); });
      return hand_out();
    }
    if (generation_ > s.iterations || archive_.empty()) return {};
    const std::vector<Genes> parents = draw_parents();
    add(s.mutants, true, [&] { return pool_.mutate(parents[draw_below(parents.size())], s.mutation, rng_); });
    // Two different indices; the parents there may be equal.
    if (parents.size() > 1) {
      add(s.crossovers, true, [&] {
        const size_t first = draw_below(parents.size());
        size_t second = draw_below(parents.size() - 1);
        second += second >= first;
        return pool_.cross(parents[first], parents[second], s.crossover, rng_);
      });
    }
    return hand_out();
  }

  void observe(std::span<const Evaluated> evaluated) override {
    for (size_t i = 0; i < evaluated.size(); ++i) archive_.push_back({evaluated[i], proposed_.at(i)});
  }

  int64_t most() const override {
    return settings_.population + (settings_.iterations - 1) * (settings_.mutants + settings_.crossovers);
  }

 private:
  struct Member {
    Evaluated evaluated;
    Genes genes;
  };

  size_t draw_below(size_t count) { return static_cast<size_t>(rng_.below(static_cast<int64_t>(count))); }

  // Draws until this many children are accepted. `fresh`: only those that were never in a population before;
  // one generation may contain the same child twice.
  template <class Draw>
  void add(int64_t wanted, bool fresh, const Draw& draw) {
    int64_t attempts = 0;
    for (int64_t accepted = 0; accepted < wanted && attempts < kMostAttempts; ++attempts) {
      Genes genes = draw();
      const auto candidate = pool_.decode(genes);
      if (!candidate || (fresh && counts_.contains(*candidate)) || !problem_.admits(*candidate)) continue;
      next_.push_back(*candidate);
      next_genes_.push_back(std::move(genes));
      ++accepted;
      attempts = 0;
    }
  }

  // The generation is recorded when it is complete.
  std::vector<spec::Candidate> hand_out() {
    for (const spec::Candidate& candidate : next_) ++counts_[candidate];
    proposed_ = std::exchange(next_genes_, {});
    return std::exchange(next_, {});
  }

  // From the frontier of everything seen, with replacement. Models that were less often in a population are
  // more likely, by up to a factor of 2.
  std::vector<Genes> draw_parents() {
    std::vector<Evaluated> seen;
    for (const Member& member : archive_) seen.push_back(member.evaluated);
    const std::vector<size_t> best = front(seen, settings_.front, problem_.objective);
    int64_t least = INT64_MAX, most = 0;
    for (const size_t i : best) {
      const int64_t count = counts_.at(seen[i].candidate);
      least = std::min(least, count), most = std::max(most, count);
    }
    std::vector<double> up_to;  // sums of weights
    for (const size_t i : best) {
      const double above = most > least ? static_cast<double>(counts_.at(seen[i].candidate) - least) /
                                              static_cast<double>(most - least)
                                        : 0;
      up_to.push_back((up_to.empty() ? 0 : up_to.back()) + 1 / (1 + above));
    }
    std::vector<Genes> parents;
    std::vector<spec::Candidate> chosen;
    for (int64_t n = 0; n < settings_.parents; ++n) {
      const double at = rng_.uniform(0, up_to.back());
      const size_t i =
          static_cast<size_t>(std::upper_bound(up_to.begin(), up_to.end() - 1, at) - up_to.begin());
      parents.push_back(archive_[best[i]].genes);
      chosen.push_back(seen[best[i]].candidate);
    }
    for (const spec::Candidate& candidate : chosen) ++counts_[candidate];
    return parents;
  }

  SearchProblem problem_;
  EvolutionSettings settings_;
  GenePool pool_;
  Rng rng_;
  int64_t generation_ = 0;
  std::vector<Member> archive_;
  std::map<spec::Candidate, int64_t> counts_;  // how often each was a member of a population
  std::vector<spec::Candidate> next_;
  std::vector<Genes> next_genes_, proposed_;
};

}  // namespace

StrategyEntry evolution_strategy() {
  return strategy_entry<Evolution, EvolutionSettings>(
      "evolution", "mutants and crossovers of the best so far, as LiteTransformerSearch");
}

}  // namespace heed::search
