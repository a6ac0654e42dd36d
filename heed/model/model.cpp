#include "heed/model/model.h"

#include <algorithm>

#include "heed/graph/plan.h"
#include "heed/model/blocks.h"
#include "heed/model/heads.h"
#include "heed/model/stacks.h"

namespace heed::model {
namespace {

graph::Cost cost_since(const Graph& graph, size_t node) {
  graph::Cost sum;
  for (; node < graph.nodes().size(); ++node) {
    const graph::Cost cost = graph.nodes()[node].op->cost(graph.signature(graph.nodes()[node]));
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
  }
  return sum;
}

}  // namespace

Model build(Graph& graph, const spec::ModelSpec& spec, const GraphForm& form) {
  Builder builder(graph, spec, form);
  // Shared biases belong to the model and not to a block, as in the public code: they are there even if no
  // block attends.
  if (spec.positions == Positions::kRelative && spec.attention.shared_position_bias) {
    const int64_t first = spec.sizes["heads"][0], width = spec.attention.head_width;
    position_biases(builder, "attention.", first * (width ? width : spec.width / first));
  }
  const Embedded embedded = embeddings().find(spec.embedding.kind).add(builder);
  builder.model().embedded = embedded.x;
  size_t before = graph.nodes().size();
  const ValueId hidden = builder.model().hidden = add_stack(builder, embedded.x);
  builder.model().block_cost = cost_since(graph, before);
  before = graph.nodes().size();
  const HeadEntry& head = heads().find(spec.head.kind);
  if (!head.has_loss && (form.trains() || form.observes()))
    throw usage_error("model: the head ", head.name, " has no loss, so there is nothing to learn from or to ",
                      "score by; take another, such as masked-token");
  head.add(builder, hidden, embedded);
  builder.model().output_cost = cost_since(graph, before);
  return std::move(builder.model());
}

Batch batch_of(const Model& model, const graph::Program& program) {
  Batch batch;
  for (const auto& [name, id] : model.batch) batch.add(name, program.tensor(id));
  return batch;
}

Weights weights_of(const spec::ModelSpec& spec) {
  Graph graph;
  return build(graph, spec, {}).weights;
}

ParameterCount count_parameters(const spec::ModelSpec& spec) {
  ParameterCount count;
  for (const auto& [group, name] : EnumNames<WeightGroup>::names) count.groups[group] = 0;
  for (const auto& [name, weight] : weights_of(spec).plain) {
    count.groups[weight.group] += weight.shape.elements();
    count.total += weight.shape.elements();
  }
  count.decoder = count.total - count.groups[WeightGroup::kEmbedding] - count.groups[WeightGroup::kOutput];
  return count;
}

}  // namespace heed::model
