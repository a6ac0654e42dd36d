// Which models of a space to train in order to learn what its blocks are worth.
#pragma once

#include "heed/search/graph_costs.h"

namespace heed::search {

// Different models of the space: each is one of the farthest from those before it, in kinds of layers and
// their sizes, depth, width, vocabulary and parameters, and rather a small one, since several small models
// tell more than one large. So any beginning of the list covers the space. None
// has more than `most_total` parameters. Fewer than `count` if the space has no more.
std::vector<spec::Candidate> designed_sample(const spec::Space& space, GraphCosts& costs, int64_t count,
                                             int64_t most_total, int64_t seed);

}  // namespace heed::search
