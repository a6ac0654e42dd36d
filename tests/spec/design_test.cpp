// Design rules against the published strings, and against the rules written out block by block.
#include "heed/spec/design.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/spec/arch.h"
#include "tests/support/messages.h"

namespace heed::spec {
namespace {

constexpr DesignRule kRules[] = {DesignRule::kStrict, DesignRule::kPublished};

TEST(Par, PublishedModels) {
  for (DesignRule rule : kRules) {
    EXPECT_EQ(design_par(32, 5, rule), "(sfff)x6 (f)x8");
    EXPECT_EQ(design_par(24, 5, rule), "(sff)x5 (f)x9");
  }
  // The authors' Large model has its last attention in block 25 of 36, one beyond the two thirds.
  EXPECT_EQ(design_par(36, 5, DesignRule::kStrict), "(sff)x7 (f)x15");
  EXPECT_EQ(design_par(36, 5, DesignRule::kPublished), "(sfff)x7 (f)x8");
}

TEST(Par, OtherShares) {
  EXPECT_EQ(design_par(32, 3, DesignRule::kStrict), "(sf)x11 (f)x10");
  EXPECT_EQ(design_par(32, 4, DesignRule::kStrict), "(sf)x8 (f)x16");
  EXPECT_EQ(design_par(32, 6, DesignRule::kStrict), "(sffff)x5 (f)x7");
  EXPECT_EQ(design_par(32, 8, DesignRule::kStrict), "(sfffff)x4 (f)x8");
  EXPECT_EQ(design_par(32, 64, DesignRule::kStrict), "(sffffffffffffffffffff) (f)x11");
  EXPECT_EQ(design_par(32, 1, DesignRule::kStrict), "(s)x32");
  EXPECT_EQ(design_par(1, 1, DesignRule::kStrict), "(s)");
}

// The rule as positions: attention i of n stands at i * stride.
TEST(Par, EveryBlockIsWhereTheRuleSays) {
  for (int64_t layers = 1; layers <= 60; ++layers) {
    for (double p = 1; p <= 2.0 * static_cast<double>(layers); p += 0.25) {
      for (DesignRule rule : kRules) {
        const double L = static_cast<double>(layers);
        const int64_t n = std::lround(L / p);  // halves away from 0, here up
        const double K = std::floor(2 * L / 3 + 1e-9);
        double stride = rule == DesignRule::kPublished
                            ? std::floor(2 * L / 3 / static_cast<double>(n) + 2.0 / 3 + 1e-9)
                        : n == 1 ? K
                                 : std::floor((K - 1) / static_cast<double>(n - 1) + 1e-9);
        stride = std::max(1.0, stride);
        std::string expected(static_cast<size_t>(layers), 'f');
        for (int64_t i = 0; i < n; ++i)
          expected.at(static_cast<size_t>(i) * static_cast<size_t>(stride)) = 's';
        ASSERT_EQ(parse_arch(design_par(layers, p, rule)), expected) << layers << " " << p;
      }
    }
  }
}

TEST(Sandwich, PublishedModels) {
  EXPECT_EQ(design_sandwich(16, 6), "(s)x6 (sf)x10 (f)x6");
  EXPECT_EQ(design_sandwich(18, 6), "(s)x6 (sf)x12 (f)x6");
  EXPECT_EQ(design_sandwich(12, 6), "(s)x6 (sf)x6 (f)x6");
  EXPECT_EQ(design_sandwich(12, 5), "(s)x5 (sf)x7 (f)x5");
  EXPECT_EQ(design_sandwich(12, 3), "(s)x3 (sf)x9 (f)x3");
  EXPECT_EQ(design_sandwich(24, 5), "(s)x5 (sf)x19 (f)x5");  // Press and others 2020, enwik8
  EXPECT_EQ(design_sandwich(16, 0), "(sf)x16");
  EXPECT_EQ(design_sandwich(4, 3), "(s)x3 (sf) (f)x3");
  EXPECT_EQ(parse_arch(design_sandwich(2048, 2047)).size(), 4096u);
}

TEST(Sru, AttendsInEveryNthLayer) {
  EXPECT_EQ(design_sru(10, 1), "(a)x10");
  EXPECT_EQ(design_sru(10, 5), "(rrrra)x2");
  EXPECT_EQ(design_sru(10, 0), "(r)x10");
  EXPECT_EQ(design_sru(10, 3), "(rra)x3 (r)");
  EXPECT_EQ(design_sru(10, 11), "(r)x10");
  for (int64_t layers = 1; layers <= 40; ++layers) {
    for (int64_t every = 1; every <= 45; ++every) {
      std::string expected;
      for (int64_t i = 1; i <= layers; ++i) expected += i % every == 0 ? 'a' : 'r';
      ASSERT_EQ(parse_arch(design_sru(layers, every)), expected) << layers << " " << every;
    }
  }
}

TEST(Design, RefusesWithTheRange) {
  const auto par = [](int64_t layers, double p) {
    return test::message_of([=] { return design_par(layers, p, DesignRule::kStrict); });
  };
  EXPECT_EQ(par(0, 5), "design: layers is 0; it must be from 1 to 4096");
  EXPECT_EQ(par(4097, 5), "design: layers is 4097; it must be from 1 to 4096");
  EXPECT_NE(par(32, 0.99).find("p is 0.99; it must be from 1 to 64 for 32 layers"), std::string::npos);
  EXPECT_NE(par(32, 65).find("beyond that there is no attention"), std::string::npos);
  EXPECT_NE(par(32, std::nan("")).find("p is nan"), std::string::npos);
  EXPECT_NE(par(32, INFINITY).find("p is inf"), std::string::npos);
  EXPECT_EQ(test::message_of([] { return design_sandwich(0, 0); }),
            "design: pairs is 0; it must be from 1 to 2048");
  EXPECT_EQ(test::message_of([] { return design_sandwich(16, 16); }),
            "design: k is 16; it must be from 0 to 15 for 16 pairs");
  EXPECT_EQ(test::message_of([] { return design_sandwich(16, -1); }),
            "design: k is -1; it must be from 0 to 15 for 16 pairs");
  EXPECT_EQ(test::message_of([] { return design_sru(-5, 1); }),
            "design: layers is -5; it must be from 1 to 4096");
  EXPECT_EQ(test::message_of([] { return design_sru(10, -1); }),
            "design: every is -1; it must be from 0 (no attention) to 4096");
}

}  // namespace
}  // namespace heed::spec
