#include "heed/search/strategies/random.h"

#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

constexpr int64_t kBatch = 500, kMostAttempts = 20000;

struct RandomSettings {
  int64_t seed = 1111;
  int64_t samples = 10000;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("seed", seed, "seed of everything drawn");
    field("samples", samples, "models to draw");
  }
};
void validate(const RandomSettings& s) { check_positive("samples", s.samples); }

class Random : public Strategy {
 public:
  Random(const SearchProblem& problem, const RandomSettings& settings)
      : problem_(problem),
        samples_(settings.samples),
        pool_(problem_.space),
        rng_(static_cast<uint64_t>(settings.seed)) {}

  std::vector<spec::Candidate> propose() override {
    std::vector<spec::Candidate> batch;
    for (int64_t attempts = 0;
         drawn_ < samples_ && static_cast<int64_t>(batch.size()) < kBatch && attempts < kMostAttempts;
         ++attempts) {
      auto candidate = pool_.decode(pool_.draw(rng_));
      if (!candidate || !problem_.admits(*candidate)) continue;
      batch.push_back(std::move(*candidate));
      ++drawn_;
      attempts = 0;
    }
    return batch;
  }
  void observe(std::span<const Evaluated>) override {}
  int64_t most() const override { return samples_; }

 private:
  SearchProblem problem_;
  int64_t samples_;
  GenePool pool_;
  Rng rng_;
  int64_t drawn_ = 0;
};

}  // namespace

StrategyEntry random_strategy() {
  return strategy_entry<Random, RandomSettings>("random", "models drawn at random");
}

}  // namespace heed::search
