#include "heed/search/strategies/evolution.h"

#include <map>

#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

// After so many draws in a row that were no use, a generation stays as small as it is.
constexpr int64_t kMostAttempts = 20000;

class Evolution : public Strategy {
 public:
  explicit Evolution(const Question& question)
      : question_(question), pool_(question_.space), rng_(static_cast<uint64_t>(question_.settings.seed)) {}

  std::vector<spec::Candidate> propose() override {
    const SearchSettings& s = question_.settings;
    if (generation_++ == 0) {
      add(s.population, false, [&] { return pool_.draw(rng_); });
      return hand_out();
    }
    if (generation_ > s.iterations || archive_.empty()) return {};
    const std::vector<Genes> parents = draw_parents();
    add(s.mutants, true, [&] { return pool_.mutate(parents[draw_below(parents.size())], s.mutation, rng_); });
    // Two different places; the parents there may be equal.
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

 private:
  struct Member {
    Evaluated evaluated;
    Genes genes;
  };

  size_t draw_below(size_t count) { return static_cast<size_t>(rng_.below(static_cast<int64_t>(count))); }

  // Draws until so many children are accepted. `fresh`: only such as never were in a population before; in
  // one generation the same may come twice.
  template <class Draw>
  void add(int64_t wanted, bool fresh, const Draw& draw) {
    int64_t attempts = 0;
    for (int64_t accepted = 0; accepted < wanted && attempts < kMostAttempts; ++attempts) {
      Genes genes = draw();
      const auto candidate = pool_.decode(genes);
      if (!candidate || (fresh && counts_.contains(*candidate)) || !question_.admits(*candidate)) continue;
      next_.push_back(*candidate);
      next_genes_.push_back(std::move(genes));
      ++accepted;
      attempts = 0;
    }
  }

  // The generation becomes known when it is complete.
  std::vector<spec::Candidate> hand_out() {
    for (const spec::Candidate& candidate : next_) ++counts_[candidate];
    proposed_ = std::exchange(next_genes_, {});
    return std::exchange(next_, {});
  }

  // From the frontier of everything seen, with replacement. What was in a population less often is more
  // likely, by up to a factor of 2.
  std::vector<Genes> draw_parents() {
    std::vector<Evaluated> seen;
    for (const Member& member : archive_) seen.push_back(member.evaluated);
    const std::vector<size_t> best = front(seen, question_.settings.front);
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
    for (int64_t n = 0; n < question_.settings.parents; ++n) {
      const double at = rng_.uniform(0, up_to.back());
      const size_t i =
          static_cast<size_t>(std::upper_bound(up_to.begin(), up_to.end() - 1, at) - up_to.begin());
      parents.push_back(archive_[best[i]].genes);
      chosen.push_back(seen[best[i]].candidate);
    }
    for (const spec::Candidate& candidate : chosen) ++counts_[candidate];
    return parents;
  }

  Question question_;
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
  return {"evolution", "mutants and crossovers of the best so far, as LiteTransformerSearch",
          [](const Question& question) -> std::unique_ptr<Strategy> {
            return std::make_unique<Evolution>(question);
          }};
}

}  // namespace heed::search
