// The sum over layers against the whole model, counted and planned in one piece.
#include "heed/search/graph_costs.h"

#include <gtest/gtest.h>

#include "heed/measure/timed_model.h"
#include "heed/search/strategies/genes.h"
#include "tests/support/alive.h"

namespace heed::search {
namespace {

TEST(GraphCosts, SumsAreThoseOfTheWhole) {
  for (const std::string& name : spec::space_names()) {
    const spec::Space space = spec::load_space(name);
    if (space.length > 1000) continue;  // slow
    GraphCosts costs(space);
    const GenePool pool(space);
    Rng rng(11);
    for (int repeat = 0; repeat < 25; ++repeat) {
      const auto candidate = pool.decode(pool.draw(rng));
      ASSERT_TRUE(candidate) << name;
      const Cost sum = costs.of(*candidate), whole = costs.planned(*candidate);
      const std::string key = name + ": " + space.key_of(*candidate);
      EXPECT_EQ(sum.decoder, whole.decoder) << key;
      EXPECT_EQ(sum.total, whole.total) << key;
      EXPECT_EQ(sum.resident, whole.resident) << key;
      // Where most is alive at once, a block of the whole has no other values than a block alone, inputs
      // aside; but an arena may have to leave gaps that the other has not. Loading may take more, and the
      // state of the whole leaves more room for it than that of a block.
      const spec::Recipe recipe = space.recipe_of(*candidate);
      const infer::Serving serving = infer::usual_serving(recipe, space.length);
      model::Model model;
      const auto graph = measure::build_timed(
          recipe.model, model::generation_form(recipe.model, serving.memory, serving.chunk, serving.chunk),
          &model);
      const test::Alive alive = test::alive_at_once(*graph, graph::plan(*graph));
      EXPECT_GE(sum.arena, whole.arena - alive.largest) << key;
      for (const int64_t arena : {sum.arena, whole.arena}) {
        EXPECT_GE(arena + alive.inputs, alive.most) << key;
        EXPECT_LT(arena, std::max(alive.most + alive.largest, model::loading_bytes(model.weights) + 1))
            << key;
      }
    }
  }
}

}  // namespace
}  // namespace heed::search
