#include "heed/model/ends.h"

#include <cmath>

#include "heed/kernels/panels.h"
#include "heed/ops/adaptive_embedding.h"
#include "heed/ops/adaptive_softmax.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/memory.h"
#include "heed/ops/packed.h"
#include "heed/ops/softmax_loss.h"

namespace heed::model {

Ends::Ends(Builder& builder) : b_(builder), clusters_(builder.spec().cluster_ends().size()) {}

Initial Ends::table_initial() const {
  const spec::ModelSpec& spec = b_.spec();
  // The author of SRU++ draws tables from U(+-sqrt(3 / D)).
  return spec.initialisation == Initialisation::kSru
             ? uniform(std::sqrt(3.0 / static_cast<double>(spec.width)))
             : normal(spec.deviation);
}

Initial Ends::projection_initial(size_t cluster) const {
  const spec::ModelSpec& spec = b_.spec();
  return spec.initialisation == Initialisation::kSru ? xavier(spec.cluster_width(cluster), spec.width)
                                                     : normal(0.01);
}

// Clusters of one width are slices of one table.
std::vector<ValueId> Ends::tables(const std::string& name, Part part) {
  const spec::ModelSpec& spec = b_.spec();
  const int64_t V = spec.vocabulary, E = spec.table_width();
  if (packs()) {
    b_.declare(name, {V, E}, part, table_initial());
    return {b_.derived(name, ops::packed_shape(E, V), {name},
                       [E, V](const std::vector<Tensor>& from, const Tensor& to) {
                         kernels::pack_panels({E, V, from[0].f32(), true, to.f32()});
                       })};
  }
  if (spec.division == 1) return {b_.parameter(name, {V, E}, part, table_initial())};
  std::vector<ValueId> tables;
  int64_t begin = 0;
  for (size_t i = 0; i < clusters_; ++i) {
    const int64_t end = spec.cluster_ends()[i];
    tables.push_back(
        b_.parameter(text(name, ".", i), {end - begin, spec.cluster_width(i)}, part, table_initial()));
    begin = end;
  }
  return tables;
}

ValueId Ends::projection(const std::string& name, size_t cluster, Part part) {
  const spec::ModelSpec& spec = b_.spec();
  if (!spec.projects(cluster)) return kNone;
  return b_.parameter(spec.division == 1 ? name : text(name, ".", cluster),
                      {spec.width, spec.cluster_width(cluster)}, part, projection_initial(cluster));
}

template <class Settings>
ValueId Ends::drop_inside(Settings& settings) {
  const spec::ModelSpec& spec = b_.spec();
  if (!spec.projects(0) || !b_.drops(spec.embedding_dropout)) return kNone;  // all clusters project or none
  settings.dropout = spec.embedding_dropout;
  settings.stream = b_.next_stream();
  for (size_t i = 1; i < clusters_; ++i) b_.next_stream();
  return b_.rng();
}

ValueId Ends::embed() {
  const spec::ModelSpec& spec = b_.spec();
  Graph& g = b_.graph();
  b_.model().tokens = g.input("tokens", {b_.use().sequences, b_.use().length}, DType::kI32);
  const ValueId tokens = b_.model().tokens;
  tables_ = tables("embedding.table", Part::kEmbedding);
  const double scale = spec.scale_embedding ? std::sqrt(static_cast<double>(spec.width)) : 1;
  ValueId places = kNone;
  if (spec.positions == Positions::kLearned)
    places = b_.parameter("embedding.positions", {spec.context, spec.width}, Part::kEmbedding,
                          normal(spec.deviation));
  ValueId x;
  if (plain()) {
    const ValueId first = places && b_.use().cached ? b_.place() : kNone;
    x = packs() ? ops::packed_embedding(g, tokens, tables_[0], places, first, {spec.vocabulary, scale})
                : ops::embedding(g, tokens, tables_[0], places, first, {scale});
  } else {
    for (size_t i = 0; i < (spec.division == 1 ? 1 : clusters_); ++i)
      projections_.push_back(projection("embedding.projection", i, Part::kEmbedding));
    ops::AdaptiveEmbeddingSettings settings{spec.cluster_ends(), scale, spec.division == 1};
    const ValueId rng = drop_inside(settings);
    x = ops::adaptive_embedding(g, tokens, tables_, projections_, settings, rng);
    if (places) x = ops::add(g, x, ops::embedding(g, b_.places(), places));
  }
  return b_.dropout(x, spec.dropout);
}

void Ends::finish(ValueId hidden) {
  const spec::ModelSpec& spec = b_.spec();
  const Use& use = b_.use();
  Graph& g = b_.graph();
  Model& model = b_.model();
  if (use.purpose == Purpose::kNextToken && use.length > 1) hidden = ops::take_row(g, hidden, b_.row());
  if (use.purpose == Purpose::kLoss)
    model.targets = g.input("targets", {use.sequences * use.length}, DType::kI32);
  const ValueId bias =
      spec.output_bias ? b_.parameter("output.bias", {spec.vocabulary}, Part::kOutput, constant(0)) : kNone;
  const std::vector<ValueId> words = spec.tie_weights ? tables_ : tables("output.table", Part::kOutput);
  if (plain()) {
    if (use.purpose == Purpose::kLoss) {
      model.losses = ops::softmax_loss(g, hidden, words[0], bias, model.targets);
    } else if (packs()) {
      model.scores =
          ops::packed_linear(g, hidden, words[0], bias, kNone, {Activation::kNone, spec.vocabulary});
    } else {
      model.scores = ops::linear(g, hidden, words[0], bias, kNone, {Activation::kNone, true, false});
    }
  } else {
    ops::AdaptiveSoftmaxInputs inputs{.x = hidden, .bias = bias, .tables = words};
    if (clusters_ > 1) {
      const auto others = static_cast<int64_t>(clusters_) - 1;
      inputs.cluster_weight =
          b_.parameter("output.cluster.weight", {others, spec.table_width()}, Part::kOutput, table_initial());
      inputs.cluster_bias = b_.parameter("output.cluster.bias", {others}, Part::kOutput, constant(0));
    }
    for (size_t i = 0; i < projections_.size(); ++i)
      inputs.projections.push_back(
          spec.ties_projection(i) ? projections_[i] : projection("output.projection", i, Part::kOutput));
    // The PyTorch implementations read the head's entries of clusters from the end.
    ops::AdaptiveSoftmaxSettings settings{spec.cluster_ends(), ClusterOrder::kReverse, spec.division == 1, 0};
    if (use.purpose == Purpose::kLoss) {
      inputs.rng = drop_inside(settings);
      model.losses = ops::adaptive_softmax_loss(g, inputs, model.targets, settings);
    } else {
      model.scores = ops::adaptive_log_probabilities(g, inputs, settings);
    }
  }
  if (use.purpose == Purpose::kLoss) model.loss = ops::mean_loss(g, model.losses, model.targets);
}

}  // namespace heed::model
