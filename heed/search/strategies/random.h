// Models drawn at random: the baseline for every other strategy.
#pragma once

#include "heed/search/strategies/strategies.h"

namespace heed::search {

StrategyEntry random_strategy();

}  // namespace heed::search
