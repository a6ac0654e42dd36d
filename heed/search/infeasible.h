// Why a search found nothing.
#pragma once

#include "heed/search/strategies/strategies.h"

namespace heed::search {

// Says which limit is in the way and which model comes nearest, or that the strategy missed models that fit.
// Searches the entire space several times, by the costs of its layers.
Error explain_infeasible(const SearchProblem& problem, const StrategyEntry& strategy);

}  // namespace heed::search
