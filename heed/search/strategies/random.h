// Models drawn at random: what every other strategy must beat.
#pragma once

#include "heed/search/strategies/strategies.h"

namespace heed::search {

StrategyEntry random_strategy();

}  // namespace heed::search
