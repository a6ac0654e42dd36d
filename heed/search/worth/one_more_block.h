// The exchange rates of a law of worth: by how much one more block of each kind and size would lower the
// predicted loss of a model.
#pragma once

#include "heed/search/worth/valuation.h"

namespace heed::search {

struct OneMoreBlock {
  spec::Block block;
  int64_t parameters = 0;
  double bits = 0;  // per byte, by which the predicted loss is lower
};

struct OneMoreBlocks {
  double predicted = 0;  // bits per byte of the model itself
  std::vector<OneMoreBlock> blocks;
};

// Every block that the space has at the width of the model, except those that the law does not know.
OneMoreBlocks one_more_of_each(const spec::Space& space, const Law& law, double tokens,
                               const spec::ModelSpec& model);

}  // namespace heed::search
