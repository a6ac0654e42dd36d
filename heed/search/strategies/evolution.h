// The evolutionary search of LiteTransformerSearch (Javaheripi and others 2022), as its code does it.
#pragma once

#include "heed/search/strategies/strategies.h"

namespace heed::search {

StrategyEntry evolution_strategy();

}  // namespace heed::search
