// The evolutionary search of LiteTransformerSearch (Javaheripi and others 2022), as in its code.
#pragma once

#include "heed/search/strategies/strategies.h"

namespace heed::search {

StrategyEntry evolution_strategy();

}  // namespace heed::search
