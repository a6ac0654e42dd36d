#include "heed/graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>

#include "heed/graph/count.h"
#include "heed/graph/program.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/attention.h"
#include "heed/ops/layer_norm.h"
#include "heed/ops/linear.h"
#include "heed/ops/ops.h"
#include "heed/train/training.h"
#include "tests/support/alive.h"
#include "tests/support/allocations.h"
#include "tests/support/messages.h"

namespace heed {
namespace {

using graph::Graph;
using graph::kNone;
using graph::ValueId;

std::string refusal(const std::function<void(Graph&)>& build) {
  return test::message_of(
      [&] {
        Graph g;
        build(g);
      },
      test::kAnyKind);
}

bool says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    if (message.find(part) == std::string::npos) {
      ADD_FAILURE() << "'" << part << "' is missing in: " << message;
      return false;
    }
  }
  return true;
}

TEST(Graph, RefusesShapesThatDoNotFitNamingOpValuesAndShapes) {
  EXPECT_TRUE(says(refusal([](Graph& g) {
                     ops::linear(g, g.input("x", {2, 7}), g.parameter("w", {8, 3}));
                   }),
                   {"linear", "x f32[2, 7]", "w f32[8, 3]", "takes 8"}));
  EXPECT_TRUE(says(refusal([](Graph& g) {
                     ops::add(g, g.input("a", {2, 3}), g.input("b", {3, 2}));
                   }),
                   {"add", "a f32[2, 3]", "b f32[3, 2]"}));
  EXPECT_TRUE(
      says(refusal([](Graph& g) {
             ops::layer_norm(g, g.input("x", {2, 4}), g.parameter("gain", {3}), g.parameter("bias", {4}));
           }),
           {"layer_norm", "gain", "[4]", "[3]"}));
  EXPECT_TRUE(says(refusal([](Graph& g) {
                     const ValueId x = g.input("x", {1, 4, 12});
                     ops::attention(g, {.q = x, .k = x, .v = x}, {.heads = 0, .head_width = 4});
                   }),
                   {"attention", "heads must be at least 1"}));
  EXPECT_TRUE(says(refusal([](Graph& g) {
                     const ValueId x = g.input("x", {1, 4, 12});
                     ops::attention(g, {.q = x, .k = x, .v = x}, {.heads = 5, .head_width = 3});
                   }),
                   {"attention", "5 heads of width 3", "[1, 4, 12]"}));
  EXPECT_TRUE(says(refusal([](Graph& g) { ops::add(g, "liner", {g.input("x", {1})}); }),
                   {"unknown op 'liner'", "did you mean 'linear'?"}));
  EXPECT_TRUE(says(refusal([](Graph& g) {
                     ops::add(g, "layer_norm", {}, {{"epsilom", 1}});
                   }),
                   {"unknown setting 'epsilom'", "did you mean 'epsilon'?"}));
  EXPECT_TRUE(says(refusal([](Graph& g) {
                     ops::add(g, "activation", {g.input("x", {1})}, {{"activation", "swish"}});
                   }),
                   {"swish", "gelu_tanh"}));
  EXPECT_TRUE(says(refusal([](Graph& g) { g.input("x", {1}), g.input("x", {1}); }), {"'x' is taken"}));
  EXPECT_TRUE(says(refusal([](Graph& g) { g.input("x", {1ll << 40, 1ll << 40}); }), {"more elements"}));
  EXPECT_TRUE(says(refusal([](Graph& g) { g.input("x", {-1}); }), {"negative"}));
}

// y = mean of x.w summed in two branches: small enough to differentiate by hand.
TEST(Graph, GradientsOfAValueUsedSeveralTimesAddUp) {
  auto g = std::make_shared<Graph>();
  const ValueId x = g->input("x", {3}), w = g->parameter("w", {3}), seed = g->input("seed", {3});
  const ValueId product = ops::mul(*g, x, w);
  const ValueId y = ops::add(*g, ops::mul(*g, product, w), ops::scale(*g, w, 5));  // x w^2 + 5 w
  const auto gradients = ops::gradients(*g, {{y, seed}}, {w, x, product});
  for (ValueId id : {w, x, product}) g->mark_output(gradients.at(id));
  g->tidy();
  graph::Variables variables;
  graph::Program program(g, variables);
  for (int i = 0; i < 3; ++i) {
    program.input("x").f32()[i] = static_cast<float>(i + 1);
    variables.parameters->at("w").f32()[i] = static_cast<float>(2 * i - 1);
    program.input("seed").f32()[i] = static_cast<float>(i + 2);
  }
  program.run();
  for (int i = 0; i < 3; ++i) {
    const float xi = static_cast<float>(i + 1), wi = static_cast<float>(2 * i - 1),
                si = static_cast<float>(i + 2);
    EXPECT_EQ(program.tensor(gradients.at(w)).f32()[i], si * (2 * xi * wi + 5));
    EXPECT_EQ(program.tensor(gradients.at(x)).f32()[i], si * wi * wi);
    EXPECT_EQ(program.tensor(gradients.at(product)).f32()[i], si * wi);
  }
}

// A sum in place must not destroy a gradient that another value shares.
TEST(Graph, AGradientThatTwoValuesShareIsCopiedBeforeItIsAddedTo) {
  auto g = std::make_shared<Graph>();
  const ValueId a = g->parameter("a", {2, 2}), b = g->parameter("b", {2, 2}), x = g->input("x", {1, 2}),
                seed = g->input("seed", {2, 2}), seed2 = g->input("seed2", {1, 2});
  const ValueId u = ops::linear(*g, x, a), y = ops::add(*g, a, b);
  const auto gradients = ops::gradients(*g, {{y, seed}, {u, seed2}}, {a, b});
  g->mark_output(gradients.at(a));
  g->mark_output(gradients.at(b));
  g->tidy();
  graph::Variables variables;
  graph::Program program(g, variables);
  for (const char* name : {"x", "seed", "seed2"}) {
    for (float& v : program.input(name).floats()) v = 1;
  }
  program.run();
  for (float v : program.tensor(gradients.at(a)).floats()) EXPECT_EQ(v, 2);
  for (float v : program.tensor(gradients.at(b)).floats()) EXPECT_EQ(v, 1);
}

train::TrainingGraph small_training() {
  spec::ModelSpec spec;
  spec.arch = "(sf)x3", spec.width = 32, spec.sizes["heads"] = {4}, spec.sizes["inner"] = {48},
  spec.embedding.vocabulary = 50, spec.embedding.context = 16;
  spec::TrainingSpec training;
  training.batch = 2, training.length = 16;
  return train::build_training_graph(spec, training);
}

// Liveness found again, the slow way: a value is alive from the node that makes it to the last that reads it
// or, in place, its heirs.
TEST(Plan, NoTwoLiveValuesShareMemory) {
  const auto training = small_training();
  const Graph& g = *training.gradients;
  const graph::Plan plan = graph::plan(g);
  const int nodes = static_cast<int>(g.nodes().size());
  struct Life {
    int64_t begin, end;
    int first, last;
    ValueId id;
  };
  // Whether node n says that it may write `out` over `in`, which it reads once.
  const auto declared = [&](int n, ValueId in, ValueId out) {
    if (n < 0 || n >= nodes) return false;
    const graph::Node& node = g.nodes()[static_cast<size_t>(n)];
    for (const graph::Alias& alias : node.op->aliases(g.signature(node))) {
      const auto input = static_cast<size_t>(alias.input), output = static_cast<size_t>(alias.output);
      if (input < node.inputs.size() && output < node.outputs.size() && node.inputs[input] == in &&
          node.outputs[output] == out) {
        return std::count(node.inputs.begin(), node.inputs.end(), in) == 1;
      }
    }
    return false;
  };
  std::vector<Life> lives;
  for (size_t i = 0; i < g.values().size(); ++i) {
    const graph::Value& value = g.values()[i];
    if (plan.offset[i] < 0 || (value.role == graph::Role::kComputed && value.producer < 0)) continue;
    const ValueId id{static_cast<int32_t>(i)};
    int last = value.producer;
    for (int n = 0; n < nodes; ++n) {
      for (ValueId input : g.nodes()[static_cast<size_t>(n)].inputs) last = input == id ? n : last;
    }
    if (g.is_output(id) || value.role == graph::Role::kInput) last = nodes;
    lives.push_back({plan.offset[i], plan.offset[i] + value.type.bytes(), value.producer, last, id});
  }
  for (int n = 0; n < nodes; ++n) {
    const auto at = static_cast<size_t>(n);
    if (plan.scratch_bytes[at] > 0)
      lives.push_back(
          {plan.scratch_offset[at], plan.scratch_offset[at] + plan.scratch_bytes[at], n, n, kNone});
  }
  int in_place = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    EXPECT_LE(lives[i].end, plan.memory.arena);
    for (size_t j = i + 1; j < lives.size(); ++j) {
      const Life &a = lives[i], &b = lives[j];
      if (a.begin >= b.end || b.begin >= a.end) continue;  // apart in memory
      if (a.last < b.first || b.last < a.first) continue;  // apart in time
      // Left is an output written over an input that this node reads last.
      const bool handed_on = a.begin == b.begin && a.end == b.end &&
                             ((a.last == b.first && declared(b.first, a.id, b.id)) ||
                              (b.last == a.first && declared(a.first, b.id, a.id)));
      EXPECT_TRUE(handed_on) << i << " and " << j;
      ++in_place;
    }
  }
  EXPECT_GT(lives.size(), 100u);
  EXPECT_GT(in_place, 5);  // sums into the residual's gradient, activations
}

TEST(Plan, GapsCostLessThanOneMoreValue) {
  const auto training = small_training();
  const graph::Plan plan = graph::plan(*training.gradients);
  const test::Alive alive = test::alive_at_once(*training.gradients, plan);
  EXPECT_GE(plan.memory.arena, alive.most);
  EXPECT_LT(plan.memory.arena, alive.most + alive.largest);
}

TEST(Program, RunsWithoutAllocating) {
  const auto training = small_training();
  graph::Variables variables;
  graph::Program program(training.gradients, variables);
  for (int32_t& t : program.input("tokens").ints()) t = 1;
  for (int32_t& t : program.input("targets").ints()) t = 2;
  program.input("step").i32()[0] = 1;
  program.run();
  const int64_t before = test::allocations();
  program.run();
  EXPECT_EQ(test::allocations() - before, 0);
}

// An op whose matrix product finds no memory to work in, if its input says so. Runs on several threads meet
// before and after that, so that they are all under way when one of them fails.
class Starving : public graph::Op {
 public:
  explicit Starving(int threads) : meeting_(threads) {}
  std::string_view kind() const override { return "starving"; }
  std::vector<TensorType> infer(const graph::Signature& s) const override { return {*s.inputs[0]}; }
  void run(const graph::Run& r) const override {
    meeting_.arrive_and_wait();
    if (r.in(0).f32()[0] != 0) kernels::report_failed_product();
    meeting_.arrive_and_wait();
  }

 private:
  mutable std::barrier<> meeting_;
};

struct StarvingProgram {
  explicit StarvingProgram(const std::shared_ptr<const Starving>& op) : program(graph(op), variables) {}
  static std::shared_ptr<Graph> graph(const std::shared_ptr<const Starving>& op) {
    auto g = std::make_shared<Graph>();
    g->mark_output(g->add_one(op, {g->input("fails", {1})}));
    return g;
  }
  graph::Variables variables;
  graph::Program program;
};

TEST(ProductCheck, OneInsideAnotherKeepsFailuresApart) {
  const kernels::ProductCheck outer;
  kernels::report_failed_product();
  {
    const kernels::ProductCheck inner;
    EXPECT_NO_THROW(inner.require_success());
    EXPECT_THROW(outer.require_success(), Error);
    kernels::report_failed_product();
    EXPECT_THROW(inner.require_success(), Error);
  }
  EXPECT_THROW(outer.require_success(), Error);
  EXPECT_NO_THROW(kernels::ProductCheck().require_success());
}

TEST(Program, HoweverItIsRunAFailedProductIsAnError) {
  StarvingProgram starving(std::make_shared<Starving>(1));
  graph::Program& program = starving.program;
  graph::Profile profile;
  double seconds[] = {0};
  const std::function<void()> ways[] = {[&] { program.run(); }, [&] { program.run(profile); },
                                        [&] { program.run(std::span(seconds)); }};
  for (const auto& run : ways) {
    program.input("fails").f32()[0] = 1;
    EXPECT_TRUE(says(refusal([&](Graph&) { run(); }), {"out of memory", "matrix product"}));
    program.input("fails").f32()[0] = 0;
    EXPECT_NO_THROW(run());  // the failure is told once
  }
}

TEST(Program, AFailedProductConcernsNoOtherProgram) {
  const auto op = std::make_shared<Starving>(2);
  StarvingProgram fails(op), runs(op);
  fails.program.input("fails").f32()[0] = 1;
  std::string failed, other;
  std::thread beside([&] { failed = refusal([&](Graph&) { fails.program.run(); }); });
  other = refusal([&](Graph&) { runs.program.run(); });
  beside.join();
  EXPECT_TRUE(says(failed, {"out of memory"}));
  EXPECT_EQ(other, "");
}

TEST(Program, SharesVariablesAndRefusesOtherShapes) {
  auto g = std::make_shared<Graph>(), h = std::make_shared<Graph>();
  g->mark_output(ops::scale(*g, g->parameter("w", {4}), 2));
  h->mark_output(ops::scale(*h, h->parameter("w", {5}), 2));
  graph::Variables variables;
  graph::Program first(g, variables), second(g, variables);
  variables.parameters->at("w").f32()[0] = 3;
  second.run();
  EXPECT_EQ(second.tensor(g->outputs()[0]).f32()[0], 6);
  EXPECT_THROW(graph::Program(h, variables), Error);
  EXPECT_THROW(variables.parameters->at("v"), Error);
  EXPECT_THROW(first.input("w"), Error);
}

TEST(Differentiate, KeepsNeitherLogitsNorCheapValues) {
  const auto training = small_training();
  int forward_losses = 0, norms = 0;
  for (const graph::Node& node : training.gradients->nodes()) {
    forward_losses += node.op->kind() == "softmax_loss";
    norms += node.op->kind() == "layer_norm";
  }
  EXPECT_EQ(forward_losses, 0);  // one node makes loss and gradient
  EXPECT_EQ(
      norms,
      13);  // 6 forward and 7 made again: the last feeds only the loss, which is made in the backward pass
  for (const graph::Value& value : training.gradients->values()) EXPECT_NE(value.type.shape, (Shape{32, 50}));
}

TEST(Program, ValuesNobodyMakesCannotBeRead) {
  auto g = std::make_shared<Graph>();
  const ValueId x = g->input("x", {2}), unused = ops::scale(*g, x, 2), used = ops::scale(*g, x, 3);
  g->mark_output(used);
  g->tidy();
  graph::Variables variables;
  graph::Program program(g, variables);
  EXPECT_NO_THROW(program.tensor(used));
  EXPECT_TRUE(says(refusal([&](Graph&) { program.tensor(unused); }), {"not needed"}));
}

TEST(Graph, RefusesValuesOfTheWrongType) {
  const auto ids = [](Graph& g) { return g.input("ids", {2, 8}, DType::kI32); };
  EXPECT_TRUE(says(refusal([&](Graph& g) {
                     ops::linear(g, ids(g), g.parameter("w", {8, 3}));
                   }),
                   {"linear", "f32", "i32[2, 8]"}));
  EXPECT_TRUE(says(
      refusal([&](Graph& g) { ops::layer_norm(g, ids(g), g.parameter("a", {8}), g.parameter("b", {8})); }),
      {"layer_norm", "i32[2, 8]"}));
  EXPECT_TRUE(
      says(refusal([&](Graph& g) { ops::mix(g, g.parameter("w", {1}), {ids(g)}); }), {"mix", "i32[2, 8]"}));
  EXPECT_TRUE(says(refusal([&](Graph& g) {
                     ops::add(g, "mix", {kNone, g.input("x", {1})});
                   }),
                   {"mix", "missing"}));
  // No op may crash on nothing, whatever it thinks of it.
  for (const auto& entry : ops::all()) {
    for (size_t inputs : {0, 1, 2, 3, 4, 9, 12}) {
      Graph g;
      SCOPED_TRACE(entry.name);
      try {
        ops::add(g, entry.name, std::vector<ValueId>(inputs, kNone));
      } catch (const Error&) {
      }
    }
  }
}

TEST(Differentiate, RefusesOpsWithoutAGradient) {
  Graph g;
  const ValueId x = g.input("x", {2, 3}), w = g.parameter("w", {4, 3});
  const ValueId y = ops::add(g, "log_probabilities", {x, w, kNone})[0];
  EXPECT_TRUE(says(refusal([&](Graph&) {
                     ops::gradients(g, {{y, g.input("seed", {2, 4})}}, {w});
                   }),
                   {"log_probabilities", "no gradient"}));
  EXPECT_TRUE(says(refusal([&](Graph&) { ops::gradients(g, y, {w}); }), {"one number", "[2, 4]"}));
}

}  // namespace
}  // namespace heed
