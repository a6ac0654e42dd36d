// What models are made of, block by block, and what each costs: for whoever wants to look into a model.
#pragma once

#include "heed/search/profiled_costs.h"

namespace heed::search {

// The space with every block as a layer of its own.
spec::Space by_block(spec::Space space);
// The layers of by_block() that a layer of `space` consists of.
std::vector<spec::Layer> blocks_of(const spec::Space& space, const spec::Layer& layer);

Json block_json(int64_t width, const spec::Layer& block, const Cost& cost);
Json frame_json(const spec::Frame& frame, const Cost& cost);

// {"blocks": [{letter, width, heads, inner, projection, parameters, bytes, ms}],
//  "frames": [{width, embedding_width, division, vocabulary, parameters, bytes, ms}]}
// of all that the space can be made of. Without a profile every ms is null; one that lacks a piece is an
// Error.
Json block_table(const spec::Space& space, const measure::DeviceProfile* profile);

}  // namespace heed::search
