#include "heed/model/vocabulary.h"

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
    return {b_.derived(name, ops::packed_shape(E, V), {name},
                       [E, V](const std::vector<Tensor>& from, const Tensor& to) {
                         kernels::pack_panels({E, V, from[0].f32(), true, to.f32()});
                       })};
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

ValueId Vocabulary::projection(const std::string& name, size_t cluster, WeightGroup group) const {
  const spec::ModelSpec& spec = b_.spec();
  if (!spec.projects(cluster)) return kNone;
  const int64_t E = spec.cluster_width(cluster);
  return b_.parameter(one_table() ? name : text(name, ".", cluster), {spec.width, E}, group,
                      spec.initialisation == Initialisation::kSru ? xavier(E, spec.width) : normal(0.01));
}

}  // namespace heed::model
