// The sum over layers against the whole model, counted and planned in one piece.
#include "heed/search/graph_costs.h"

#include <gtest/gtest.h>

#include "heed/search/strategies/genes.h"

namespace heed::search {
namespace {

TEST(GraphCosts, SumsAreThoseOfTheWhole) {
  for (const std::string& name : spec::space_names()) {
    const spec::Space space = spec::load_space(name);
    if (space.length > 1000) continue;  // slow
    GraphCosts costs(space);
    const GenePool pool(space);
    Rng rng(11);
    int close = 0;
    for (int repeat = 0; repeat < 25; ++repeat) {
      const auto candidate = pool.decode(pool.draw(rng));
      ASSERT_TRUE(candidate) << name;
      const Cost sum = costs.of(*candidate), whole = costs.planned(*candidate);
      const std::string key = name + ": " + space.key_of(*candidate);
      EXPECT_EQ(sum.decoder, whole.decoder) << key;
      EXPECT_EQ(sum.total, whole.total) << key;
      EXPECT_EQ(sum.resident, whole.resident) << key;
      // An arena may have to leave gaps that a block alone does not have, and the other way round.
      const auto off = static_cast<double>(std::abs(sum.arena - whole.arena));
      EXPECT_LT(off, 0.15 * static_cast<double>(whole.arena)) << key;
      close += off <= 1024;
    }
    EXPECT_GE(close, 20) << name;
  }
}

}  // namespace
}  // namespace heed::search
