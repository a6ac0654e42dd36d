#include "heed/train/optimizers.h"

#include <gtest/gtest.h>

#include "heed/graph/program.h"

namespace heed {
namespace {

// w after one step on one weight of 1 with gradient 0.5, rate 0.1.
double one_step(const train::OptimizerEntry& optimizer, const Json& settings) {
  auto graph = std::make_shared<graph::Graph>();
  const auto w = graph->parameter("layer.weight", {1}), g = graph->input("g", {1});
  const auto rate = graph->input("rate", {1}), step = graph->input("step", {1}, DType::kI32);
  const auto updated = optimizer.add(*graph, {{w}, {g}}, rate, step, graph::kNone, settings)[0];
  graph->tidy();  // writes count as needed, marked or not
  graph::Variables variables;
  graph::Program program(graph, variables);
  EXPECT_EQ(program.tensor(updated).data, variables.parameters->at("layer.weight").data);
  *variables.parameters->at("layer.weight").f32() = 1;
  *program.input("g").f32() = 0.5f;
  *program.input("rate").f32() = 0.1f;
  *program.input("step").i32() = 1;
  program.run();
  EXPECT_EQ(variables.states.all().size(), optimizer.moments.size());
  for (const char* moment : optimizer.moments)
    EXPECT_NE(*variables.states.at(text("layer.weight.", moment)).f32(), 0) << moment;
  return static_cast<double>(*variables.parameters->at("layer.weight").f32());
}

TEST(Optimizers, EveryEntryDescendsWithItsDefaultsAndKnowsItsSettings) {
  for (const train::OptimizerEntry& optimizer : train::optimizers()) {
    EXPECT_LT(one_step(optimizer, Json::object()), 1) << optimizer.name;
    EXPECT_EQ(one_step(optimizer, Json::object()), one_step(optimizer, optimizer.defaults)) << optimizer.name;
    EXPECT_THROW(one_step(optimizer, {{"weight_dekay", 1}}), Error) << optimizer.name;
    EXPECT_THROW(one_step(optimizer, {{"layer_ends", {1}}}), Error)
        << optimizer.name;  // the model's, not the user's
    EXPECT_THROW(one_step(optimizer, Json(3)), Error) << optimizer.name;
    EXPECT_THROW(one_step(optimizer, Json()), Error) << optimizer.name;
  }
}

TEST(Optimizers, DefaultsAndOverrides) {
  const auto& all = train::optimizers();
  EXPECT_NEAR(one_step(all.find("adam"), Json::object()), 0.9, 1e-6);
  EXPECT_NEAR(one_step(all.find("adamw"), Json::object()), 0.999 - 0.1, 1e-6);
  EXPECT_NEAR(one_step(all.find("adamw"), {{"weight_decay", 0}}), 0.9, 1e-6);
  EXPECT_NEAR(one_step(all.find("radam"), Json::object()), 0.99 - 0.05, 1e-6);
  EXPECT_NEAR(one_step(all.find("radam"), {{"early", "skip"}}), 1, 1e-6);
  EXPECT_NEAR(one_step(all.find("nvlamb"), {{"ratio", false}}), 0.999 - 0.1, 1e-6);
  EXPECT_NEAR(one_step(all.find("sgd"), Json::object()), 0.95, 1e-6);
  EXPECT_NEAR(one_step(all.find("sgd"), {{"nesterov", true}}), 1 - 0.1 * 0.95, 1e-6);
  EXPECT_THROW(all.find("adagrad"), Error);
}

TEST(Optimizers, OnlyParametersAreUpdated) {
  graph::Graph graph;
  const auto x = graph.input("x", {1}), g = graph.input("g", {1});
  const auto rate = graph.input("rate", {1}), step = graph.input("step", {1}, DType::kI32);
  EXPECT_THROW(train::optimizers().find("adam").add(graph, {{x}, {g}}, rate, step, graph::kNone), Error);
}

}  // namespace
}  // namespace heed
