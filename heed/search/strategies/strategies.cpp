#include "heed/search/strategies/strategies.h"

#include "heed/search/strategies/evolution.h"
#include "heed/search/strategies/exact.h"
#include "heed/search/strategies/random.h"

namespace heed::search {

// The list of strategies. A new one adds one line.
const Registry<StrategyEntry>& strategies() {
  static const Registry<StrategyEntry> list("strategy", {
                                                            evolution_strategy(),
                                                            exact_strategy(),
                                                            random_strategy(),
                                                        });
  return list;
}

void check_positive(const char* setting, int64_t value) {
  if (value < 1) throw usage_error("search: ", setting, " is ", value, "; it must be positive");
}

}  // namespace heed::search
