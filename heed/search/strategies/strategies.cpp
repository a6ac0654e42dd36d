#include "heed/search/strategies/strategies.h"

#include "heed/search/strategies/evolution.h"
#include "heed/search/strategies/exact.h"
#include "heed/search/strategies/random.h"

namespace heed::search {

// The list of strategies. A new one adds one line.
const Registry<StrategyEntry>& strategies() {
  static const Registry<StrategyEntry> list(
      "strategy", {
                      evolution_strategy(),
                      exact_strategy(),
                      random_strategy(),
                      {"supernet", "learns from a text where blocks belong", nullptr},
                  });
  return list;
}

void validate(const SearchSettings& s) {
  const auto positive = [](const char* name, int64_t value) {
    if (value < 1) throw usage_error("search: ", name, " is ", value, "; it must be positive");
  };
  positive("population", s.population);
  positive("parents", s.parents);
  positive("iterations", s.iterations);
  positive("samples", s.samples);
  if (s.mutants < 0 || s.crossovers < 0 || s.mutants + s.crossovers == 0)
    throw usage_error("search: ", s.mutants, " mutants and ", s.crossovers,
                      " crossovers make no generation; at least one must be positive");
  for (const double probability : {s.mutation, s.crossover}) {
    if (!(probability >= 0 && probability <= 1))
      throw usage_error("search: a probability of ", probability, " is not in [0, 1]");
  }
}

}  // namespace heed::search
