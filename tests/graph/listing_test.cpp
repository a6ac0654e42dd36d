// A listing says all there is to say of a graph: the same graph can be built from it.
#include "heed/graph/listing.h"

#include <gtest/gtest.h>

#include <map>

#include "heed/ops/arithmetic.h"
#include "heed/ops/ops.h"
#include "heed/train/training.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using graph::Graph;
using graph::Listing;
using graph::ValueId;

std::string numbered(int section) { return text("section ", section); }

Graph rebuilt(const Listing& listing) {
  Graph graph;
  std::map<std::string, ValueId> values = {{"", graph::kNone}};
  for (const auto& v : listing.inputs) values[v.name] = graph.input(v.name, v.type.shape, v.type.dtype);
  for (const auto& v : listing.parameters) values[v.name] = graph.parameter(v.name, v.type);
  for (const auto& v : listing.states) values[v.name] = graph.state(v.name, v.type.shape, v.type.dtype);
  for (const graph::ListedNode& node : listing.nodes) {
    std::vector<ValueId> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(values.at(name));
    graph.begin_section(node.section);
    const auto outputs = ops::add(graph, node.kind, inputs, node.settings);
    for (size_t i = 0; i < outputs.size(); ++i) values[node.outputs[i].name] = outputs[i];
  }
  for (const std::string& name : listing.outputs) graph.mark_output(values.at(name));
  return graph;
}

TEST(Listing, TheSameGraphIsBuiltFromIt) {
  spec::ModelSpec adaptive = test::small_model("transformer-xl", "(sff)x2");
  adaptive.embedding.cutoffs = {9, 17}, adaptive.embedding.division = 2;
  spec::ModelSpec dropped = test::small_model("sru++", "sfriaf");
  dropped.dropout = dropped.attention.dropout = 0.25;
  for (const spec::ModelSpec& spec : {test::small_model("gpt2", "(sf)x2"), adaptive, dropped}) {
    spec::TrainingSpec training;
    training.batch = 4, training.length = 8, training.chunks = 2;
    const train::TrainingGraph built = train::build_training_graph(spec, training);
    for (const auto& graph : {built.gradients, built.update}) {
      const Listing listing = list(*graph);
      EXPECT_EQ(listing.nodes.size(), graph->nodes().size());
      EXPECT_EQ(to_json(list(rebuilt(listing)), numbered), to_json(listing, numbered));
    }
  }
}

TEST(Listing, IsReadable) {
  Graph graph;
  graph.begin_section(1);
  const ValueId x = graph.input("x", {2, 3}), ids = graph.input("ids", {2}, DType::kI32);
  const ValueId y = ops::scale(graph, x, 0.5), w = graph.parameter("w", {3});
  graph.begin_section(0);
  const ValueId norm = ops::add(graph, "layer_norm_backward", {y, w, x, graph::kNone})[1];
  graph.state("kept", {4});
  graph.mark_output(norm);
  graph.tidy();
  EXPECT_TRUE(bool(ids));
  EXPECT_EQ(to_text(list(graph), numbered),
            "inputs:\n"
            "  x: f32[2, 3]\n"
            "  ids: i32[2]\n"
            "parameters:\n"
            "  w: f32[3]\n"
            "states:\n"
            "  kept: f32[4]\n"
            "nodes:\n"
            "  %0 = scale(x, -) {\"factor\":0.5} : f32[2, 3]  # section 1\n"
            "  %1.0, %1.1, %1.2 = layer_norm_backward(%0, w, x, -) {\"epsilon\":1e-05} : f32[2, 3], f32[3], "
            "f32[3]  # section 0\n"
            "outputs: %1.1\n");
}

}  // namespace
}  // namespace heed
