#include "heed/graph/graph.h"

#include <gtest/gtest.h>

#include "heed/graph/count.h"
#include "heed/graph/program.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/layer_norm.h"
#include "heed/ops/linear.h"
#include "heed/ops/ops.h"

namespace heed {
namespace {

TEST(Graph, RunsASmallSum) {
  auto g = std::make_shared<graph::Graph>();
  const auto x = g->input("x", {3}), w = g->parameter("w", {3});
  const auto y = ops::add(*g, ops::mul(*g, x, w), x);
  g->mark_output(y);
  graph::Variables variables;
  graph::Program program(g, variables);
  for (int i = 0; i < 3; ++i) {
    program.input("x").f32()[i] = static_cast<float>(i);
    variables.at("w").f32()[i] = 2;
  }
  program.run();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(program.tensor(y).f32()[i], 3 * i);
}

}  // namespace
}  // namespace heed
