#include "heed/search/strategies/random.h"

#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

constexpr int64_t kBatch = 500, kMostAttempts = 20000;

class Random : public Strategy {
 public:
  explicit Random(const Question& question)
      : question_(question), pool_(question_.space), rng_(static_cast<uint64_t>(question_.settings.seed)) {}

  std::vector<spec::Candidate> propose() override {
    std::vector<spec::Candidate> batch;
    for (int64_t attempts = 0; drawn_ < question_.settings.samples &&
                               static_cast<int64_t>(batch.size()) < kBatch && attempts < kMostAttempts;
         ++attempts) {
      auto candidate = pool_.decode(pool_.draw(rng_));
      if (!candidate || !question_.admits(*candidate)) continue;
      batch.push_back(std::move(*candidate));
      ++drawn_;
      attempts = 0;
    }
    return batch;
  }
  void observe(std::span<const Evaluated>) override {}

 private:
  Question question_;
  GenePool pool_;
  Rng rng_;
  int64_t drawn_ = 0;
};

}  // namespace

StrategyEntry random_strategy() {
  return {"random", "models drawn at random", [](const Question& question) -> std::unique_ptr<Strategy> {
            return std::make_unique<Random>(question);
          }};
}

}  // namespace heed::search
