// A candidate as a list of genes. There are as many genes for layers as the deepest model has; those beyond a
// candidate's own depth are inherited and take effect when it grows.
#pragma once

#include <optional>

#include "heed/base/philox.h"
#include "heed/spec/space.h"

namespace heed::search {

struct Genes {
  int64_t layers = 0;
  spec::Frame frame;
  std::vector<int64_t> kind;  // by layer
  spec::SizeLists sizes;      // by layer
};

class GenePool {
 public:
  explicit GenePool(const spec::Space& space);

  // Uniform, gene by gene; sizes from those that the width allows.
  Genes draw(Rng& rng) const;
  // Each gene is drawn again with this probability. Sizes that stay may not fit a new width.
  Genes mutate(const Genes& parent, double probability, Rng& rng) const;
  // Each gene comes from the first parent with this probability, else from the second.
  Genes cross(const Genes& first, const Genes& second, double probability, Rng& rng) const;
  // The candidate of the genes; nothing if they do not form a model of the space.
  std::optional<spec::Candidate> decode(const Genes& genes) const;

 private:
  const spec::Space& space_;
  size_t deepest_;
  std::vector<int64_t> kinds_;
};

}  // namespace heed::search
