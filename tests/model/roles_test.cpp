// What a model states of its values, so that scores and timers need to know no name of a weight and no op.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/measure/timed_model.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using model::Model;
using test::small_model;

struct Observed {
  explicit Observed(const spec::ModelSpec& spec)
      : model(model::build(graph, spec, model::observation_form(1, 4))) {}
  const std::string& name(graph::ValueId id) const { return graph.value(id).name; }
  graph::Graph graph;
  Model model;
};

TEST(Roles, OfProducts) {
  const Observed observed(small_model("transformer-xl", "sf"));
  std::vector<std::string> layers, activated;
  for (const model::Product& product : observed.model.products) {
    layers.push_back(product.layer);
    EXPECT_EQ(observed.name(product.matrix), product.name);
    EXPECT_EQ(product.activation != Activation::kNone, bool(product.activated));
    if (product.activated) activated.push_back(product.name);
  }
  std::ranges::sort(layers);
  EXPECT_EQ(layers, (std::vector<std::string>{
                        "blocks.0.attention.out.weight", "blocks.0.attention.qkv.weight",
                        "blocks.0.attention.qkv.weight", "blocks.0.attention.r.weight",
                        "blocks.1.feed_forward.in.weight", "blocks.1.feed_forward.out.weight"}));
  EXPECT_EQ(activated, std::vector<std::string>{"blocks.1.feed_forward.in.weight"});
}

TEST(Roles, OfPositions) {
  const Observed learned(small_model("gpt2", "sf")), relative(small_model("transformer-xl", "sf"));
  EXPECT_EQ(learned.name(learned.model.positions), "embedding.positions");
  EXPECT_FALSE(learned.model.distances);
  EXPECT_FALSE(relative.model.positions);
  EXPECT_EQ(relative.graph.shape(relative.model.distances).dim(0), 4);
}

TEST(Roles, OfTheOutput) {
  spec::ModelSpec spec = small_model("transformer-xl", "sf");
  const int64_t V = spec.embedding.vocabulary;
  const Observed plain(spec);
  ASSERT_EQ(plain.model.output.clusters.size(), 1u);
  EXPECT_EQ(plain.model.output.clusters[0].end, V);
  EXPECT_EQ(plain.name(plain.model.output.clusters[0].table), "embedding.table");
  EXPECT_FALSE(plain.model.output.entries);

  spec.embedding.cutoffs = {9, 17};
  for (const int64_t division : {1, 2}) {
    spec.embedding.division = division;
    const Observed observed(spec);
    const model::Output& output = observed.model.output;
    ASSERT_EQ(output.clusters.size(), 3u);
    EXPECT_EQ(observed.graph.shape(output.entries).dim(0), 2);
    int64_t begin = 0;
    for (const model::Output::Cluster& cluster : output.clusters) {
      EXPECT_EQ(cluster.begin, begin);
      EXPECT_LE(cluster.first_row + cluster.end - cluster.begin, observed.graph.shape(cluster.table).dim(0));
      EXPECT_EQ(cluster.first_row, division == 1 ? begin : 0);
      begin = cluster.end;
    }
    EXPECT_EQ(begin, V);
  }
}

TEST(Roles, GatesAreClosedUntilTheyAreOpened) {
  const Observed observed(small_model("sru++", "ar"));
  const model::Weights& weights = observed.model.weights;
  graph::NamedTensors parameters;
  const auto expect_gate = [&](float value) {
    EXPECT_EQ(parameters.at("blocks.0.recurrence.alpha").f32()[0], value);
  };
  fill_weights(observed.graph, weights, parameters, first_weights(weights, 1));
  expect_gate(0);
  open_gates(weights, parameters);
  expect_gate(1);
  fill_weights(observed.graph, weights, parameters, measure::made_up_weights(weights));
  expect_gate(1);
}

}  // namespace
}  // namespace heed
