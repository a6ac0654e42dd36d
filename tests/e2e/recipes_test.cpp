#include <sstream>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, RecipesAreListed) {
  const Outcome table = heed("recipes --threads 1");
  ASSERT_EQ(table.code, 0) << table.output;
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_TRUE(contains(table, "(sfff)x6 (f)x8       test perplexity 22.7, Mandava et al. 2020"))
      << table.output;
  const Json list = Json::parse(heed("recipes par-large --json").out);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["name"], "par-large-wt103");
  EXPECT_EQ(list[0]["published"][0], "test perplexity 18.4, Mandava et al. 2020, table 3");
}

TEST_F(Verbs, RecipesRefuses) {
  refuses("recipes nothing", 2, "no recipe has 'nothing' in its name");
  const std::string mine = "HEED_RECIPES=" + folder_.path().string();
  EXPECT_EQ(heed("recipes", mine).code, 1);
  file("mine.json", R"({"model": {"widht": 3}})");
  const Outcome wrong = heed("recipes", mine);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong, "did you mean 'width'?")) << wrong.output;
}

}  // namespace
}  // namespace heed::test
