#include "heed/search/strategies/genes.h"

#include <algorithm>
#include <numeric>

namespace heed::search {
namespace {

int64_t one_of(const std::vector<int64_t>& values, Rng& rng) {
  return values[static_cast<size_t>(rng.below(static_cast<int64_t>(values.size())))];
}

// Sizes that the width limits are drawn first, as in LiteTransformerSearch's code.
std::vector<spec::Size> in_order_of_drawing() {
  std::vector<spec::Size> sizes = spec::sizes();
  std::stable_partition(sizes.begin(), sizes.end(),
                        [](const spec::Size& size) { return size.grows_with_width; });
  return sizes;
}

bool happens(double probability, Rng& rng) { return rng.uniform() < probability; }

}  // namespace

GenePool::GenePool(const spec::Space& space)
    : space_(space),
      deepest_(static_cast<size_t>(*std::max_element(space.layers.begin(), space.layers.end()))),
      kinds_(space.layer.size()) {
  std::iota(kinds_.begin(), kinds_.end(), int64_t{0});
}

Genes GenePool::draw(Rng& rng) const { return mutate({}, 1, rng); }

Genes GenePool::mutate(const Genes& parent, double probability, Rng& rng) const {
  Genes genes = parent;
  const auto mutate_gene = [&](int64_t& gene, const std::vector<int64_t>& values) {
    if (happens(probability, rng)) gene = one_of(values, rng);
  };
  mutate_gene(genes.layers, space_.layers);
  mutate_gene(genes.frame.width, space_.width);
  const auto mutate_layers = [&](std::vector<int64_t>& list, const std::vector<int64_t>& values) {
    list.resize(deepest_);
    for (int64_t& gene : list) {
      if (!values.empty()) mutate_gene(gene, values);
    }
  };
  mutate_layers(genes.kind, kinds_);
  for (const spec::Size& size : in_order_of_drawing()) {
    std::vector<int64_t> allowed;
    for (const int64_t value : space_.sizes[size.name]) {
      if (space_.allows(genes.frame.width, size, value)) allowed.push_back(value);
    }
    mutate_layers(genes.sizes[size.name], allowed);
  }
  mutate_gene(genes.frame.division, space_.division);
  mutate_gene(genes.frame.embedding_width, space_.embedding_width);
  mutate_gene(genes.frame.vocabulary, space_.vocabulary);
  return genes;
}

Genes GenePool::cross(const Genes& first, const Genes& second, double probability, Rng& rng) const {
  const auto pick = [&](int64_t a, int64_t b) { return happens(probability, rng) ? a : b; };
  const auto pick_each = [&](std::vector<int64_t> a, const std::vector<int64_t>& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = pick(a[i], b[i]);
    return a;
  };
  Genes child;
  child.layers = pick(first.layers, second.layers);
  child.frame.width = pick(first.frame.width, second.frame.width);
  child.kind = pick_each(first.kind, second.kind);
  for (const spec::Size& size : in_order_of_drawing())
    child.sizes[size.name] = pick_each(first.sizes[size.name], second.sizes[size.name]);
  child.frame.division = pick(first.frame.division, second.frame.division);
  child.frame.embedding_width = pick(first.frame.embedding_width, second.frame.embedding_width);
  child.frame.vocabulary = pick(first.frame.vocabulary, second.frame.vocabulary);
  return child;
}

std::optional<spec::Candidate> GenePool::decode(const Genes& genes) const {
  spec::Candidate candidate{genes.frame, {}};
  for (size_t i = 0; i < static_cast<size_t>(genes.layers); ++i) {
    spec::Layer layer{genes.kind[i], {}};
    for (const spec::Size& size : spec::sizes()) {
      if (space_.has(layer.kind, size)) layer.sizes[size.name] = genes.sizes[size.name][i];
    }
    if (!space_.allows(genes.frame.width, layer)) return std::nullopt;
    candidate.layers.push_back(layer);
  }
  return candidate;
}

}  // namespace heed::search
