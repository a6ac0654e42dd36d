#include "heed/search/worth/one_more_block.h"

#include <algorithm>

namespace heed::search {
namespace {

std::vector<spec::Block> blocks_of(const spec::Space& space, int64_t width) {
  std::vector<spec::Block> blocks;
  for (const spec::Layer& layer : space.options(width)) {
    for (const spec::Block& block : space.blocks_of(layer)) {
      if (std::ranges::find(blocks, block) == blocks.end()) blocks.push_back(block);
    }
  }
  return blocks;
}

}  // namespace

OneMoreBlocks one_more_of_each(const spec::Space& space, const Law& law, double tokens,
                               const spec::ModelSpec& model) {
  BlockSizes sizes(space);
  Sums sums;
  for (const SizedBlock& block : sizes.of(model.width, model.blocks()))
    sums += law.worth(model.width, block, tokens);
  const auto predicted = [&](const Sums& of) {
    return law.bits_per_byte(model.width, model.embedding.vocabulary, of, tokens);
  };
  OneMoreBlocks rates{predicted(sums), {}};
  for (const spec::Block& block : blocks_of(space, model.width)) {
    if (!law.letters.contains(block.letter)) continue;
    for (const SizedBlock& sized : sizes.of(model.width, {block})) {
      Sums more = sums;
      more += law.worth(model.width, sized, tokens);
      rates.blocks.push_back({block, sized.parameters, rates.predicted - predicted(more)});
    }
  }
  return rates;
}

}  // namespace heed::search
