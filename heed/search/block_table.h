// The blocks of models and the cost of each, for showing a model block by block.
#pragma once

#include "heed/search/profiled_costs.h"

namespace heed::search {

// The space with every block as a separate layer.
spec::Space by_block(spec::Space space);
// The layer of by_block() that is this block.
spec::Layer as_layer(const spec::Block& block);

// The table of letters, for the page: [{letter, name, identity, sizes: [{name, title}]}].
Json letters_json();
// {size: value} of the sizes that the block has.
Json sizes_json(const spec::Block& block);
Json block_json(int64_t width, const spec::Block& block, const Cost& cost);
Json frame_json(const spec::Frame& frame, const Cost& cost);

// {"blocks": [{letter, width, sizes, parameters, bytes, ms}],
//  "frames": [{width, embedding_width, division, vocabulary, parameters, bytes, ms}]}
// of everything in the space. Without a profile every ms is null; throws if the profile lacks a piece.
Json block_table(const spec::Space& space, const measure::DeviceProfile* profile);

}  // namespace heed::search
