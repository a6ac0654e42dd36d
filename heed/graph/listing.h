// Reading 5 of the graph: its nodes and values as plain data, to be printed or written in the format of other
// tools.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/graph/graph.h"

namespace heed::graph {

struct ListedValue {
  std::string name;  // its own, or "%12" for the output of node 12; "%12.1" if it has several
  TensorType type;
};

struct ListedNode {
  std::string kind;
  Json settings;
  std::vector<std::string> inputs;  // names of values, "" where an optional one is absent
  std::vector<ListedValue> outputs;
  int section = 0;  // Graph::begin_section
};

struct Listing {
  std::vector<ListedValue> inputs, parameters, states;
  std::vector<ListedNode> nodes;  // in the order they run
  std::vector<std::string> outputs;
};
Listing list(const Graph& graph);

// One line per value and node. `section_name` gives the name of a section.
using PartName = std::function<std::string(int section)>;
std::string to_text(const Listing& listing, const PartName& section_name);
Json to_json(const Listing& listing, const PartName& section_name);

}  // namespace heed::graph
