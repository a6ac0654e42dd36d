#include "heed/search/worth/valuation.h"

#include "heed/search/block_table.h"

namespace heed::search {

BlockSizes::BlockSizes(const spec::Space& space) : by_block_(by_block(space)), costs_(by_block_) {}

std::vector<SizedBlock> BlockSizes::of(int64_t width, const std::vector<spec::Block>& blocks) {
  std::vector<SizedBlock> sized;
  for (const spec::Block& block : blocks) {
    if (!block.is_identity())
      sized.push_back({block.letter, costs_.of_layer(width, as_layer(block)).decoder});
  }
  return sized;
}

Worth Valuation::of_blocks(int64_t width, const std::vector<spec::Block>& blocks) {
  Worth sum = {};
  // Each block is rounded, so that a layer is worth what its blocks are.
  for (const SizedBlock& block : sizes_.of(width, blocks)) {
    const Worth units = units_of(law_.worth(width, block, tokens_));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += units[i];
  }
  return sum;
}

Worth Valuation::of_layer(int64_t width, const spec::Layer& layer) {
  return of_blocks(width, space_.blocks_of(layer));
}

Worth Valuation::of(const spec::Candidate& candidate) {
  return of_blocks(candidate.frame.width, space_.model_of(candidate).blocks());
}

double Valuation::score(const spec::Frame& frame, const Worth& worth) const {
  return -law_.bits_per_byte(frame.width, frame.vocabulary, sums_of(worth), tokens_);
}

double Valuation::score(const spec::ModelSpec& model) {
  return -law_.bits_per_byte(model.width, model.embedding.vocabulary,
                             sums_of(of_blocks(model.width, model.blocks())), tokens_);
}

Cost ValuedCosts::of_layer(int64_t width, const spec::Layer& layer) {
  Cost cost = costs_.of_layer(width, layer);
  if (valuation_) cost.worth = valuation_->of_layer(width, layer);
  return cost;
}

}  // namespace heed::search
