#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, DesignWritesArchitectures) {
  EXPECT_EQ(heed("design par --layers 32 -p 5").out, "(sfff)x6 (f)x8\n");
  EXPECT_EQ(heed("design par --layers 36 --rule published").out, "(sfff)x7 (f)x8\n");
  EXPECT_EQ(heed("design sandwich --pairs 16 -k 6").out, "(s)x6 (sf)x10 (f)x6\n");
  EXPECT_EQ(heed("design sru++ --layers 10 --every 5").out, "(rrrra)x2\n");
  EXPECT_EQ(heed("design par --layers 32").code, 0);
}

TEST_F(Verbs, DesignRefuses) {
  refuses("design", 2, "kind is required");
  refuses("design snadwich", 2, "did you mean 'sandwich'?");
  refuses("design par", 2, "--layers is missing");
  refuses("design par --layers 32 --pairs 3", 2,
          "--pairs is not for this rule; it takes --layers, -p, --rule");
  refuses("design par --layers 32 --rule strikt", 2, "'strikt' is not one of strict, published");
  refuses("design par --layers 0", 2, "from 1 to 4096");
  refuses("design par --layers 32 -p nan", 2, "p is nan");
  refuses("design sandwich --pairs 16 -k 16", 2, "from 0 to 15");
  refuses("design sru++ --layers ten --every 1", 2, "--layers: 'ten' was given; write a whole number");
}

}  // namespace
}  // namespace heed::test
