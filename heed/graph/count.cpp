#include "heed/graph/count.h"

namespace heed::graph {

Count count(const Graph& graph) {
  Count result;
  for (ValueId id : graph.of_role(Role::kParameter)) result.parameters += graph.shape(id).elements();
  for (const Node& node : graph.nodes()) {
    const Cost cost = node.op->cost(graph.signature(node));
    Cost& kind = result.by_kind[std::string(node.op->kind())];
    for (Cost* sum : {&result.total, &kind}) {
      sum->flops += cost.flops;
      sum->bytes += cost.bytes;
    }
  }
  return result;
}

}  // namespace heed::graph
