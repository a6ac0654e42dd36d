// What oracle cases of one run cannot show of memories and caches: several runs, order, refusals.
#include "heed/ops/memory.h"

#include <gtest/gtest.h>

#include <functional>

#include "heed/graph/program.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/arrange.h"
#include "tests/support/messages.h"

namespace heed {
namespace {

using graph::Graph;
using graph::kNone;
using graph::ValueId;

void expect_refusal(const std::function<void()>& action, std::initializer_list<const char*> parts) {
  const std::string message = test::message_of(action);
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
}

// Segments of 3 rows and a memory of 4: what a run reads is what the runs before it left, slot by slot.
TEST(Memory, CarriesTheLastRowsOfEachSlotFromRunToRun) {
  constexpr int64_t kChunks = 2, kRows = 4, kLength = 3;
  auto g = std::make_shared<Graph>();
  const ValueId state = g->state("memory", {kChunks, 1, kRows, 1}), x = g->input("x", {1, kLength, 1}),
                slot = g->input("slot", {1}, DType::kI32);
  const ValueId seen = ops::concat(*g, {ops::recall(*g, state, slot), x}, 1);
  g->mark_output(seen);
  ops::remember(*g, state, x, slot);
  g->tidy();
  graph::Variables variables;
  graph::Program program(g, variables);
  for (float& value : variables.states.at("memory").floats()) value = 0;
  std::vector<float> history[kChunks] = {std::vector<float>(kRows), std::vector<float>(kRows)};
  float next = 1;
  for (const int32_t chunk : {0, 1, 1, 0, 1, 0, 0}) {
    program.input("slot").i32()[0] = chunk;
    std::vector<float>& mine = history[chunk];
    for (float& value : program.input("x").floats()) {
      value = next++;
      mine.push_back(value);
    }
    program.run();
    const auto found = program.tensor(seen).floats();
    const std::vector<float> expected(mine.end() - (kRows + kLength), mine.end());
    EXPECT_EQ(std::vector<float>(found.begin(), found.end()), expected);
  }
}

TEST(Memory, APlanWithAReaderAfterTheWriteIsRefused) {
  Graph g;
  const ValueId state = g.state("memory", {2, 4, 3}), x = g.input("x", {2, 1, 3});
  ops::remember(g, state, x, kNone);
  g.mark_output(ops::scale(g, state, 2));
  expect_refusal([&] { graph::plan(g); }, {"remember", "overwrites memory"});
}

TEST(Memory, ACacheIsReadAfterItsRowsWereWritten) {
  auto g = std::make_shared<Graph>();
  const ValueId cache = g->state("cache", {1, 4, 2}), x = g->input("x", {1, 1, 2}),
                position = g->input("position", {1}, DType::kI32);
  const ValueId after = ops::append(*g, cache, x, position, {});
  const ValueId read = ops::scale(*g, after, 2);
  g->mark_output(read);
  g->tidy();
  EXPECT_EQ(graph::plan(*g).lives_in[static_cast<size_t>(after.index)], cache);  // no copy
  graph::Variables variables;
  graph::Program program(g, variables);
  for (float& value : variables.states.at("cache").floats()) value = 0;
  for (int32_t at = 0; at < 4; ++at) {
    program.input("position").i32()[0] = at;
    for (float& value : program.input("x").floats()) value = static_cast<float>(at + 1);
    program.run();
    for (int32_t row = 0; row < 4; ++row)
      EXPECT_EQ(program.tensor(read).f32()[2 * row], row <= at ? static_cast<float>(2 * (row + 1)) : 0);
  }
  for (const int32_t wrong : {-1, 4}) {
    program.input("position").i32()[0] = wrong;
    expect_refusal([&] { program.run(); }, {"append", std::to_string(wrong).c_str(), "there are 4"});
  }
}

TEST(Memory, SlotsAndRowsThatDoNotExistAreRefused) {
  auto g = std::make_shared<Graph>();
  const ValueId state = g->state("memory", {3, 1, 2, 2}), x = g->input("x", {1, 5, 2}),
                slot = g->input("slot", {1}, DType::kI32), row = g->input("row", {1}, DType::kI32),
                other = g->input("other", {1}, DType::kI32);
  g->mark_output(ops::recall(*g, state, slot));
  g->mark_output(ops::take_row(*g, x, row));
  ops::remember(*g, state, x, other);
  g->tidy();
  graph::Variables variables;
  graph::Program program(g, variables);
  const auto run = [&](int32_t at_slot, int32_t at_row, int32_t at_other) {
    return [&, at_slot, at_row, at_other] {
      program.input("slot").i32()[0] = at_slot;
      program.input("row").i32()[0] = at_row;
      program.input("other").i32()[0] = at_other;
      program.run();
    };
  };
  EXPECT_EQ(test::message_of(run(2, 4, 2)), "");
  expect_refusal(run(3, 0, 0), {"recall", "slot 3", "there are 3"});
  expect_refusal(run(-1, 0, 0), {"recall", "slot -1"});
  expect_refusal(run(0, 5, 0), {"take_row", "row 5", "there are 5"});
  expect_refusal(run(0, 0, 3), {"remember", "slot 3"});
}

TEST(Memory, ShapesThatDoNotFitAreRefused) {
  const auto refused = [](const std::function<void(Graph&)>& build,
                          std::initializer_list<const char*> parts) {
    Graph g;
    expect_refusal([&] { build(g); }, parts);
  };
  refused(
      [](Graph& g) {
        ops::remember(g, g.state("m", {2, 0, 3}), g.input("x", {2, 1, 3}), kNone);
      },
      {"remember", "at least one row"});
  refused(
      [](Graph& g) {
        ops::remember(g, g.state("m", {0, 2, 2, 3}), g.input("x", {2, 1, 3}), kNone);
      },
      {"remember", "at least one chunk"});
  refused(
      [](Graph& g) {
        ops::remember(g, g.state("m", {2, 4, 3}), g.input("x", {2, 1, 4}), kNone);
      },
      {"remember", "[2, 4, 3]", "[2, 1, 4]", "batch or width"});
  refused(
      [](Graph& g) {
        ops::remember(g, g.state("m", {3}), g.input("x", {1, 3}), kNone);
      },
      {"remember", "[C, B, M, D]"});
  refused([](Graph& g) { ops::recall(g, g.state("m", {2, 4, 3}), kNone); }, {"recall", "4 dimensions"});
  refused(
      [](Graph& g) {
        ops::recall(g, g.state("m", {2, 1, 4, 3}), kNone, {.flat = true});
      },
      {"recall", "one row", "[2, 1, 4, 3]"});
  refused(
      [](Graph& g) {
        ops::recall(g, g.state("m", {2, 1, 4, 3}), g.input("slot", {1}));
      },
      {"recall", "slot", "i32"});
  const auto at = [](Graph& g) { return g.input("position", {1}, DType::kI32); };
  refused(
      [&](Graph& g) {
        ops::append(g, g.state("c", {2, 8, 6}), g.input("x", {2, 1, 9}), at(g), {4});
      },
      {"append", "6 columns from 4", "[2, 1, 9]"});
  refused(
      [&](Graph& g) {
        ops::append(g, g.state("c", {2, 8, 6}), g.input("x", {2, 9, 6}), at(g), {});
      },
      {"append", "8 rows"});
  refused(
      [&](Graph& g) {
        ops::append(g, g.state("c", {2, 8, 6}), g.input("x", {2, 1, 6}), kNone, {});
      },
      {"append", "missing"});
  refused([&](Graph& g) { ops::take_row(g, g.input("x", {2, 0, 6}), at(g)); }, {"take_row", "no rows"});
}

}  // namespace
}  // namespace heed
