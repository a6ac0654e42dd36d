// Why a search found nothing.
#pragma once

#include <optional>

#include "heed/search/graph_costs.h"
#include "heed/search/strategies/strategies.h"

namespace heed::search {

// The model that needs the least memory, with its planned cost; nothing if the space has no models. Its size
// may be one that the space leaves out.
std::optional<Evaluated> smallest_model(const spec::Space& space, GraphCosts& costs);
// Which limits the smallest model exceeds.
Error exceeded_by_smallest(const spec::Space& space, const Limits& limits, const Evaluated& smallest);

// Says which limit is too tight and which model comes nearest, or that the strategy missed models that fit.
// Searches the entire space several times, by the costs of its layers.
Error explain_infeasible(const SearchProblem& problem, const StrategyEntry& strategy);

}  // namespace heed::search
