#include "heed/model/vocabulary.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/panels.h"
#include "heed/ops/packed.h"

namespace heed::model {

Vocabulary::Vocabulary(Builder& builder) : b_(builder), clusters_(builder.spec().cluster_ends().size()) {}

Initial Vocabulary::table_initial() const {
  const spec::ModelSpec& spec = b_.spec();
  // The author of SRU++ draws tables from U(+-sqrt(3 / D)).
  return spec.initialisation == Initialisation::kSru
             ? uniform(std::sqrt(3.0 / static_cast<double>(spec.width)))
             : normal(spec.deviation);
}

std::vector<ValueId> Vocabulary::tables(const std::string& name, WeightGroup group) const {
  const spec::ModelSpec& spec = b_.spec();
  const int64_t V = spec.embedding.vocabulary, E = spec.table_width();
  if (packs()) {
    b_.declare(name, {V, E}, group, table_initial());
    return {b_.packed(name, E, V, true)};
  }
  if (one_table()) return {b_.parameter(name, {V, E}, group, table_initial())};
  std::vector<ValueId> tables;
  int64_t begin = 0;
  for (size_t i = 0; i < clusters_; ++i) {
    const int64_t end = spec.cluster_ends()[i];
    tables.push_back(
        b_.parameter(text(name, ".", i), {end - begin, spec.cluster_width(i)}, group, table_initial()));
    begin = end;
  }
  return tables;
}

std::vector<ValueId> Vocabulary::embedding_projections() const {
  if (!b_.spec().projects(0)) return {};
  const std::string name = "embedding.projection";
  if (one_table()) return {projection(name, 0, WeightGroup::kEmbedding)};
  std::vector<ValueId> projections;
  for (size_t i = 0; i < clusters_; ++i)
    projections.push_back(projection(text(name, ".", i), i, WeightGroup::kEmbedding));
  return projections;
}

Vocabulary::OutputProjections Vocabulary::output_projections(const std::vector<ValueId>& of_embedding) const {
  OutputProjections output;
  if (of_embedding.empty()) return output;
  const std::string name = "output.projection";
  for (size_t i = 0; i < clusters_; ++i) {
    const bool only = one_table() && clusters_ == 1;
    const ValueId mine = b_.spec().ties_projection(i)
                             ? of_embedding[one_table() ? 0 : i]
                             : projection(only ? name : text(name, ".", i), i, WeightGroup::kOutput);
    const auto known = std::ranges::find(output.projections, mine);
    output.of_cluster.push_back(known - output.projections.begin());
    if (known == output.projections.end()) output.projections.push_back(mine);
  }
  return output;
}

ValueId Vocabulary::projection(const std::string& name, size_t cluster, WeightGroup group) const {
  const spec::ModelSpec& spec = b_.spec();
  const int64_t E = spec.cluster_width(cluster);
  return b_.parameter(name, {spec.width, E}, group,
                      spec.initialisation == Initialisation::kSru ? xavier(E, spec.width) : normal(0.01));
}

}  // namespace heed::model
