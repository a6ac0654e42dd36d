#include "heed/model/model.h"

#include <algorithm>

#include "heed/graph/plan.h"
#include "heed/model/blocks.h"
#include "heed/model/ends.h"

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

void set(graph::Program& program, const char* name, std::initializer_list<int64_t> values) {
  const ValueId id = program.graph().find(name);
  if (!id) return;
  int32_t* to = program.tensor(id).i32();
  for (int64_t value : values) *to++ = static_cast<int32_t>(value);
}

}  // namespace

Model build(Graph& graph, const spec::ModelSpec& spec, const Use& use) {
  Builder builder(graph, spec, use);
  // Shared biases belong to the model and not to a block, as in the public code: they are there even if no
  // block attends.
  if (spec.positions == Positions::kRelative && spec.shared_position_bias)
    position_biases(builder, "attention.",
                    spec.heads[0] * (spec.head_width ? spec.head_width : spec.width / spec.heads[0]));
  Ends ends(builder);
  ValueId x = ends.embed();
  builder.model().embedded = x;
  size_t before = graph.nodes().size();
  const std::string letters = spec.letters();
  const auto block_at = [&](size_t block, ValueId in) {
    graph.begin_part(static_cast<int>(block) + 1);
    return blocks().find(std::string(1, letters[block])).add(builder, in, static_cast<int64_t>(block));
  };
  const size_t alternatives = spec.mix ? static_cast<size_t>(spec.mix) : 1;
  for (size_t first = 0; first < letters.size(); first += alternatives) {
    std::vector<ValueId> branches;
    for (size_t i = 0; i < alternatives; ++i) branches.push_back(block_at(first + i, x));
    x = spec.mix ? builder.mixed(branches, static_cast<int64_t>(first / alternatives)) : branches[0];
  }
  graph.begin_part(kFramePart);
  if (spec.final_norm) x = builder.norm(x, "norm", spec.width);
  if (spec.dropout_everywhere) x = builder.dropout(x, spec.dropout);
  builder.model().hidden = x;
  builder.model().block_cost = cost_since(graph, before);
  before = graph.nodes().size();
  ends.finish(x);
  builder.model().output_cost = cost_since(graph, before);
  return std::move(builder.model());
}

void set_position(graph::Program& program, const Use& use, const Position& position) {
  if (use.cached) {
    set(program, "position", {position.row});
    set(program, "positions", {position.row, std::max<int64_t>(0, position.row - use.memory)});
  } else {
    set(program, "positions", {use.memory, use.memory - std::min(use.memory, position.seen)});
  }
  // Without caches learned places begin again with every segment.
  const int64_t place = use.cached ? position.seen : 0;
  set(program, "place", {place});
  if (const ValueId places = program.graph().find("places")) {
    const Tensor tensor = program.tensor(places);
    for (int64_t i = 0; i < tensor.shape().elements(); ++i)
      tensor.i32()[i] = static_cast<int32_t>(place + i % use.length);
  }
}

Weights weights_of(const spec::ModelSpec& spec) {
  Graph graph;
  return build(graph, spec, {}).weights;
}

ParameterCount count_parameters(const spec::ModelSpec& spec) {
  ParameterCount count;
  for (const auto& [part, name] : EnumNames<Part>::names) count.parts[part] = 0;
  for (const auto& [name, weight] : weights_of(spec).plain) {
    count.parts[weight.part] += weight.shape.elements();
    count.total += weight.shape.elements();
  }
  count.decoder = count.total - count.parts[Part::kEmbedding] - count.parts[Part::kOutput];
  return count;
}

}  // namespace heed::model
