// Reading 1 of the graph: what it holds and what one run costs. Nothing is allocated or run.
#pragma once

#include <map>
#include <string>

#include "heed/graph/graph.h"

namespace heed::graph {

struct Count {
  int64_t parameters = 0;
  Cost total;
  std::map<std::string, Cost> by_kind;  // by op kind
};

Count count(const Graph& graph);

}  // namespace heed::graph
