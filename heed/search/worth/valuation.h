// A law of worth applied to a space: what its layers add to the sums of the law, and what whole models reach
// after a given number of tokens.
#pragma once

#include <optional>

#include "heed/search/graph_costs.h"
#include "heed/search/worth/law.h"

namespace heed::search {

// Blocks with their parameters, counted once for each size.
class BlockSizes {
 public:
  explicit BlockSizes(const spec::Space& space);
  // Without blocks that return their input.
  std::vector<SizedBlock> of(int64_t width, const std::vector<spec::Block>& blocks);

 private:
  spec::Space by_block_;  // whose layers are single blocks
  GraphCosts costs_;
};

class Valuation {
 public:
  Valuation(const spec::Space& space, Law law, double tokens)
      : space_(space), law_(std::move(law)), tokens_(tokens), sizes_(space) {}

  const Law& law() const { return law_; }
  double tokens() const { return tokens_; }

  Worth of_layer(int64_t width, const spec::Layer& layer);
  Worth of(const spec::Candidate& candidate);
  // Minus the predicted bits per byte of a model whose layers add up to this.
  double score(const spec::Frame& frame, const Worth& worth) const;
  double score(const spec::ModelSpec& model);

 private:
  Worth of_blocks(int64_t width, const std::vector<spec::Block>& blocks);

  const spec::Space& space_;
  Law law_;
  double tokens_;
  BlockSizes sizes_;
};

// Costs together with worth.
class ValuedCosts : public Costs {
 public:
  // Without a valuation, worth is 0. It may change.
  ValuedCosts(Costs& costs, std::optional<Valuation>& valuation) : costs_(costs), valuation_(valuation) {}
  Cost of_frame(const spec::Frame& frame) override { return costs_.of_frame(frame); }
  Cost of_layer(int64_t width, const spec::Layer& layer) override;

 private:
  Costs& costs_;
  std::optional<Valuation>& valuation_;
};

}  // namespace heed::search
