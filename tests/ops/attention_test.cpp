// What attention sees of memories and caches, key by key, and what it refuses. Values and gradients are
// compared in oracle_test.cpp.
#include "heed/ops/attention.h"

#include <gtest/gtest.h>

#include "heed/graph/program.h"
#include "tests/support/messages.h"

namespace heed {
namespace {

using graph::Graph;
using graph::ValueId;
using test::message_of;

constexpr int64_t kKeys = 48;

// Attention into a cache of kKeys rows. All queries are 0, so that every key seen weighs the same, and value
// j is the unit vector j: column j of the result tells whether key j was seen.
class Cache {
 public:
  Cache(int64_t T, ops::AttentionSettings settings, int64_t relative_rows = 0) {
    settings.head_width = kKeys;
    auto g = std::make_shared<Graph>();
    ops::AttentionInputs in{.q = g->input("q", {1, T, kKeys}),
                            .k = g->input("k", {1, kKeys, kKeys}),
                            .v = g->input("v", {1, kKeys, kKeys})};
    if (relative_rows > 0) in.relative = g->input("relative", {relative_rows, kKeys});
    in.positions = g->input("positions", {2}, DType::kI32);
    out_ = ops::attention(*g, in, settings);
    g->mark_output(out_);
    program_ = std::make_unique<graph::Program>(g, variables_);
    for (const char* name : {"q", "k", "v"}) {
      for (float& x : program_->input(name).floats()) x = 0;
    }
    if (relative_rows > 0) {
      for (float& x : program_->input("relative").floats()) x = 1;
    }
    for (int64_t j = 0; j < kKeys; ++j) program_->input("v").f32()[j * kKeys + j] = 1;
  }
  void run(int64_t first_query, int64_t first_key) {
    program_->input("positions").i32()[0] = static_cast<int32_t>(first_query);
    program_->input("positions").i32()[1] = static_cast<int32_t>(first_key);
    program_->run();
  }
  bool sees(int64_t query, int64_t key) const {
    return program_->tensor(out_).f32()[query * kKeys + key] > 0;
  }

 private:
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  ValueId out_;
};

// Transformer-XL's masks as its authors build them, over the m keys remembered and the T new ones (Dai and
// others 2019): above the diagonal m and, with same_length, below the diagonal -s. At first there are fewer
// than M keys to remember.
TEST(Attention, SameLengthSeesInACacheWhatItSeesInAMemory) {
  for (const int64_t T : {1, 2, 3, 4, 7, 16}) {
    for (const int64_t M : {0, 1, 2, 7, 15, 16, 20}) {
      for (const SameLength convention : {SameLength::kNone, SameLength::kNv, SameLength::kOrig}) {
        Cache cache(T, {.same_length = convention, .memory_length = M}, M + T);
        for (int64_t p = 0; p + T <= kKeys; ++p) {
          const int64_t m = std::min(p, M), first_key = p - m;
          const int64_t masked = m + T - M - (convention == SameLength::kNv ? 1 : 0);
          const int64_t s = masked > 0 ? T - masked : T;
          cache.run(p, first_key);
          for (int64_t i = 0; i < T; ++i) {
            for (int64_t j = 0; j < kKeys; ++j) {
              const int64_t diagonal = j - first_key - i;
              const bool future = diagonal >= m + 1;
              const bool past = convention != SameLength::kNone && diagonal <= -s;
              ASSERT_EQ(cache.sees(i, j), j >= first_key && !future && !past)
                  << enum_name(convention) << " T " << T << " M " << M << " p " << p << " query " << i
                  << " key " << j;
            }
          }
        }
      }
    }
  }
}

TEST(Attention, RefusesDistancesThatHaveNoRelativeRow) {
  for (const int64_t T : {1, 4, 9}) {
    Cache all(T, {}, 12);  // distances 0 to 11
    EXPECT_EQ(message_of([&] { all.run(12 - T, 0); }), "");
    EXPECT_EQ(message_of([&] { all.run(30, 30 + T - 12); }), "");
    const std::string message = message_of([&] { all.run(13 - T, 0); });
    for (const char* part : {"attention", "12 rows", "distance of 12"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message_of([&] { all.run(30, 30 + T - 13); }), "");
    EXPECT_EQ(message_of([&] { all.run(30, kKeys); }), "");  // sees nothing

    Cache window(T, {.window = 11}, 12), wider(T, {.window = 12}, 12);
    EXPECT_EQ(message_of([&] { window.run(kKeys - T, 0); }), "");
    EXPECT_NE(message_of([&] { wider.run(kKeys - T, 0); }), "");
    Cache nv(T, {.same_length = SameLength::kNv, .memory_length = 11}, 12),
        orig(T, {.same_length = SameLength::kOrig, .memory_length = 12}, 12),
        longer(T, {.same_length = SameLength::kOrig, .memory_length = 13}, 12);
    EXPECT_EQ(message_of([&] { nv.run(kKeys - T, 0); }), "");
    EXPECT_EQ(message_of([&] { orig.run(kKeys - T, 0); }), "");
    EXPECT_NE(message_of([&] { longer.run(kKeys - T, 0); }), "");
  }
}

// Without positions all is known when the graph is built.
TEST(Attention, RefusesTooFewRelativeRowsAtOnceWhereItCan) {
  const auto build = [](int64_t rows, int64_t window) {
    return message_of([&] {
      Graph g;
      const ValueId x = g.input("x", {1, 20, 4});
      ops::attention(g, {.q = x, .k = x, .v = x, .relative = g.input("relative", {rows, 4})},
                     {.head_width = 4, .window = window});
    });
  };
  EXPECT_EQ(build(20, -1), "");
  EXPECT_EQ(build(8, 7), "");
  EXPECT_NE(build(19, -1).find("19 rows"), std::string::npos) << build(19, -1);
  EXPECT_NE(build(8, 8), "");
  EXPECT_NE(build(0, 0), "");
}

}  // namespace
}  // namespace heed
