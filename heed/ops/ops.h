// The list of ops, and graphs by name.
#pragma once

#include <map>
#include <vector>

#include "heed/base/registry.h"
#include "heed/ops/define.h"

namespace heed::ops {

const Registry<OpEntry>& all();

// Adds the op of that name. Throws for unknown names and settings, and for shapes that do not match.
std::vector<graph::ValueId> add(graph::Graph& graph, const std::string& name,
                                std::vector<graph::ValueId> inputs, const Json& settings = Json::object());

// Gradients of a scalar loss by each of `wrt` (graph/differentiate.h).
std::map<graph::ValueId, graph::ValueId> gradients(graph::Graph& graph, graph::ValueId loss,
                                                   const std::vector<graph::ValueId>& wrt);
// The same for any values, with their incoming gradients given.
std::map<graph::ValueId, graph::ValueId> gradients(graph::Graph& graph,
                                                   const std::map<graph::ValueId, graph::ValueId>& seeds,
                                                   const std::vector<graph::ValueId>& wrt);

}  // namespace heed::ops
