#include "heed/graph/listing.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::graph {
namespace {

std::string name_in(const Graph& graph, ValueId id) {
  if (!id) return "";
  const Value& value = graph.value(id);
  if (value.role != Role::kComputed) return value.name;
  HEED_ASSERT(value.producer >= 0);  // after tidy() every used value has a producer
  const std::vector<ValueId>& made = graph.nodes()[static_cast<size_t>(value.producer)].outputs;
  if (made.size() == 1) return text("%", value.producer);
  return text("%", value.producer, ".", std::find(made.begin(), made.end(), id) - made.begin());
}

std::vector<ListedValue> values_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<ListedValue> values;
  for (ValueId id : ids) values.push_back({name_in(graph, id), graph.value(id).type});
  return values;
}

template <class Each>
std::string joined(const std::vector<Each>& all, const std::function<std::string(const Each&)>& show) {
  std::string out;
  for (const Each& each : all) out += (out.empty() ? "" : ", ") + show(each);
  return out;
}

Json to_json(const std::vector<ListedValue>& values) {
  Json all = Json::array();
  for (const ListedValue& value : values) {
    Json shape = Json::array();
    for (int i = 0; i < value.type.shape.rank(); ++i) shape.push_back(value.type.shape.dim(i));
    all.push_back({{"name", value.name}, {"dtype", name_of(value.type.dtype)}, {"shape", shape}});
  }
  return all;
}

}  // namespace

Listing list(const Graph& graph) {
  Listing listing{values_of(graph, graph.of_role(Role::kInput)),
                  values_of(graph, graph.of_role(Role::kParameter)),
                  values_of(graph, graph.of_role(Role::kState)),
                  {},
                  {}};
  for (const Node& node : graph.nodes()) {
    ListedNode listed{
        std::string(node.op->kind()), node.op->settings(), {}, values_of(graph, node.outputs), node.section};
    for (ValueId id : node.inputs) listed.inputs.push_back(name_in(graph, id));
    listing.nodes.push_back(std::move(listed));
  }
  for (ValueId id : graph.outputs()) listing.outputs.push_back(name_in(graph, id));
  return listing;
}

std::string to_text(const Listing& listing, const PartName& section_name) {
  std::string out;
  const auto section = [&](const char* title, const std::vector<ListedValue>& values) {
    out += text(title, ":", values.empty() ? " none" : "", "\n");
    for (const ListedValue& value : values) out += text("  ", value.name, ": ", value.type.str(), "\n");
  };
  section("inputs", listing.inputs);
  section("parameters", listing.parameters);
  section("states", listing.states);
  out += "nodes:\n";
  for (const ListedNode& node : listing.nodes) {
    out += text("  ", joined<ListedValue>(node.outputs, [](const auto& value) { return value.name; }), " = ",
                node.kind, "(",
                joined<std::string>(node.inputs, [](const auto& name) { return name.empty() ? "-" : name; }),
                ") ", node.settings.empty() ? "" : node.settings.dump() + " ", ": ",
                joined<ListedValue>(node.outputs, [](const auto& value) { return value.type.str(); }), "  # ",
                section_name(node.section), "\n");
  }
  return out + "outputs: " + joined<std::string>(listing.outputs, [](const auto& name) { return name; }) +
         "\n";
}

Json to_json(const Listing& listing, const PartName& section_name) {
  Json nodes = Json::array();
  for (const ListedNode& node : listing.nodes) {
    Json inputs = Json::array();
    for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? Json() : Json(name));
    nodes.push_back({{"kind", node.kind},
                     {"settings", node.settings},
                     {"inputs", inputs},
                     {"outputs", to_json(node.outputs)},
                     {"section", section_name(node.section)}});
  }
  return {{"inputs", to_json(listing.inputs)},
          {"parameters", to_json(listing.parameters)},
          {"states", to_json(listing.states)},
          {"nodes", nodes},
          {"outputs", listing.outputs}};
}

}  // namespace heed::graph
