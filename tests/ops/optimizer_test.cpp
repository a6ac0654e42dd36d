#include "heed/ops/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/graph/program.h"
#include "heed/kernels/isa.h"
#include "heed/kernels/optimizer.h"
#include "heed/ops/ops.h"
#include "tests/support/rounding.h"

namespace heed {
namespace {

using Numbers = std::vector<double>;

// One tensor, one optimizer, run step by step through a Program.
class Step {
 public:
  Step(const std::string& kind, const Json& settings, int64_t n, bool with_clip = true)
      : graph_(std::make_shared<graph::Graph>()) {
    const auto w = graph_->parameter("w", {n});
    const auto g = graph_->input("g", {n});
    const auto m = graph_->state("m", {n}), v = graph_->state("v", {n});
    const auto rate = graph_->input("rate", {1}), step = graph_->input("step", {1}, DType::kI32);
    const auto clip = with_clip ? graph_->input("clip", {1}) : graph::kNone;
    updated_ = ops::add(*graph_, kind, {w, g, m, v, rate, step, clip}, settings);
    program_ = std::make_unique<graph::Program>(graph_, variables_);
    if (with_clip) *program_->input("clip").f32() = 1;
  }

  void set_weights(const Numbers& w) { std::copy(w.begin(), w.end(), variable("w").begin()); }
  void run(const Numbers& g, int step, float rate, float clip = 1) {
    std::copy(g.begin(), g.end(), program_->input("g").f32());
    *program_->input("rate").f32() = rate;
    *program_->input("step").i32() = step;
    if (graph_->find("clip")) *program_->input("clip").f32() = clip;
    program_->run();
  }
  std::span<float> variable(const std::string& name) const {
    return program_->tensor(graph_->find(name)).floats();
  }
  bool in_place() const {
    const char* names[] = {"w", "m", "v"};
    for (size_t i = 0; i < 3; ++i) {
      if (program_->tensor(updated_[i]).data != variable(names[i]).data()) return false;
    }
    return true;
  }
  graph::Graph& graph() { return *graph_; }

 private:
  std::shared_ptr<graph::Graph> graph_;
  std::vector<graph::ValueId> updated_;
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
};

// The oracle: the formulas as the papers print them, in double, one element after the
// other.
struct Reference {
  Numbers w, m, v;
  explicit Reference(Numbers weights) : w(std::move(weights)), m(w.size()), v(w.size()) {}

  void take(const Numbers& g, double b1, double b2) {
    for (size_t i = 0; i < w.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    }
  }

  void adam(const Json& s, Numbers g, int t, double lr) {
    const double b1 = s.value("beta1", 0.9), b2 = s.value("beta2", 0.999), eps = s.value("epsilon", 1e-8);
    const double decay = s.value("weight_decay", 0.0);
    const bool decoupled = s.value("decoupled", false), correct = s.value("bias_correction", true);
    for (size_t i = 0; i < w.size(); ++i) {
      if (decoupled) {
        w[i] *= 1 - lr * decay;
      } else {
        g[i] += decay * w[i];
      }
    }
    take(g, b1, b2);
    const double seen1 = correct ? 1 - std::pow(b1, t) : 1, seen2 = correct ? 1 - std::pow(b2, t) : 1;
    for (size_t i = 0; i < w.size(); ++i) {
      const double m_hat = m[i] / seen1, v_hat = v[i] / seen2;
      w[i] -= lr * m_hat / (std::sqrt(v_hat) + eps);
    }
  }

  void radam(const Json& s, const Numbers& g, int t, double lr) {
    const double b1 = s.value("beta1", 0.9), b2 = s.value("beta2", 0.999), eps = s.value("epsilon", 1e-8);
    const double decay = s.value("weight_decay", 0.0);
    take(g, b1, b2);
    const double rho_inf = 2 / (1 - b2) - 1, rho = rho_inf - 2 * t * std::pow(b2, t) / (1 - std::pow(b2, t));
    if (rho < 5 && s.value("early", "momentum") == "skip") return;
    const double plain = lr / (1 - std::pow(b1, t));
    const double rect = std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
    const double adaptive = lr * rect * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t));
    for (size_t i = 0; i < w.size(); ++i) {
      w[i] *= 1 - lr * decay;
      w[i] -= rho >= 5 ? adaptive * m[i] / (std::sqrt(v[i]) + eps) : plain * m[i];
    }
  }

  void lamb(const Json& s, const Numbers& g, int t, double lr, bool nv) {
    const double b1 = s.value("beta1", 0.9), b2 = s.value("beta2", 0.999), eps = s.value("epsilon", 1e-6);
    const double decay = s.value("weight_decay", nv ? 0.01 : 0.0),
                 limit = s.value("norm_limit", nv ? 0.0 : 10.0);
    const bool correct = s.value("bias_correction", nv);
    take(g, b1, b2);
    Numbers a(w.size());
    double w_norm = 0, a_norm = 0;
    const double seen1 = correct ? 1 - std::pow(b1, t) : 1, seen2 = correct ? 1 - std::pow(b2, t) : 1;
    for (size_t i = 0; i < w.size(); ++i) {
      const double m_hat = m[i] / seen1, v_hat = v[i] / seen2;
      a[i] = m_hat / (std::sqrt(v_hat) + eps) + decay * w[i];
      w_norm += w[i] * w[i];
      a_norm += a[i] * a[i];
    }
    w_norm = std::sqrt(w_norm);
    a_norm = std::sqrt(a_norm);
    double ratio = 1;
    if (w_norm != 0 && a_norm != 0 && s.value("ratio", true)) {
      ratio = (limit > 0 ? std::min(w_norm, limit) : w_norm) /
              (a_norm + (s.value("epsilon_in_ratio", !nv) ? eps : 0));
    }
    for (size_t i = 0; i < w.size(); ++i) w[i] -= lr * ratio * a[i];
  }
};

struct Case {
  std::string kind;
  Json settings;
  std::function<void(Reference&, const Json&, const Numbers&, int, double)> step;
};

std::vector<Case> cases() {
  const auto adam = [](Reference& r, const Json& s, const Numbers& g, int t, double lr) {
    r.adam(s, g, t, lr);
  };
  const auto radam = [](Reference& r, const Json& s, const Numbers& g, int t, double lr) {
    r.radam(s, g, t, lr);
  };
  const auto lamb = [](Reference& r, const Json& s, const Numbers& g, int t, double lr) {
    r.lamb(s, g, t, lr, false);
  };
  const auto nvlamb = [](Reference& r, const Json& s, const Numbers& g, int t, double lr) {
    r.lamb(s, g, t, lr, true);
  };
  return {
      {"adam", Json::object(), adam},
      {"adam", {{"weight_decay", 0.1}}, adam},
      {"adam", {{"weight_decay", 0.1}, {"decoupled", true}, {"beta1", 0.8}, {"beta2", 0.98}}, adam},
      {"adam",
       {{"weight_decay", 0.01}, {"decoupled", true}, {"bias_correction", false}, {"epsilon", 1e-6}},
       adam},
      {"adam", {{"beta1", 0.0}, {"beta2", 0.0}, {"epsilon", 0.1}}, adam},
      {"radam", {{"weight_decay", 0.1}}, radam},
      {"radam", {{"weight_decay", 0.1}, {"early", "skip"}}, radam},
      {"lamb", Json::object(), lamb},
      {"lamb", {{"weight_decay", 0.1}, {"norm_limit", 0.5}}, lamb},
      {"lamb", {{"ratio", false}, {"weight_decay", 0.1}}, lamb},
      {"nvlamb", Json::object(), nvlamb},
      {"nvlamb", {{"ratio", false}, {"weight_decay", 0.0}}, nvlamb},
      {"nvlamb", {{"epsilon_in_ratio", true}, {"norm_limit", 1.0}, {"epsilon", 1e-3}}, nvlamb},
  };
}

// Rounded to float, so that both sides start from the same numbers. Gradients span many sizes. Kept, for
// making them would take most of the time here.
const Numbers& random_numbers(int64_t n, uint64_t seed, bool many_sizes) {
  static std::map<std::tuple<int64_t, uint64_t, bool>, Numbers> known;
  Numbers& x = known[{n, seed, many_sizes}];
  if (!x.empty()) return x;
  Rng rng(seed);
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<float>(rng.normal() * (many_sizes ? std::pow(10, rng.uniform(-6, 1)) : 1)));
  }
  return x;
}

class EveryIsa : public ::testing::TestWithParam<kernels::Isa> {
 protected:
  void SetUp() override {
    if (!kernels::supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << kernels::name_of(GetParam());
    kernels::force_isa(GetParam());
  }
  void TearDown() override {
    kernels::force_isa(kernels::supported(kernels::Isa::kV4) ? kernels::Isa::kV4 : kernels::Isa::kV3);
    set_thread_count(available_threads());
  }
};
INSTANTIATE_TEST_SUITE_P(, EveryIsa, ::testing::Values(kernels::Isa::kV3, kernels::Isa::kV4),
                         [](const auto& isa) { return isa.param == kernels::Isa::kV3 ? "v3" : "v4"; });

// m and v are sums of three roundings in each of 20 steps, w of one, and a change of w of some 36 more, the
// norms of LAMB included. Where the gradients in m cancel it is right only relative to those, of about 10,
// and a change of w relative to the largest change of all elements (`moved`) instead of the element's own.
TEST_P(EveryIsa, TwentyStepsMatchADoubleLoop) {
  const float rate = 0.01f, clip = 0.75f;
  for (const Case& c : cases()) {
    double worst = 0;
    for (int64_t n : {1, 15, 16, 17, 1000, 70000}) {
      Reference expected(random_numbers(n, 7, false));
      Step actual(c.kind, c.settings, n);
      ASSERT_TRUE(actual.in_place());
      actual.set_weights(expected.w);
      double moved = 0;
      for (int t = 1; t <= 20; ++t) {
        Numbers g = random_numbers(n, static_cast<uint64_t>(100 + t), true);
        actual.run(g, t, rate, clip);
        for (double& value : g) value *= static_cast<double>(clip);
        const Numbers before = expected.w;
        c.step(expected, c.settings, g, t, static_cast<double>(rate));
        double largest = 0;
        for (size_t i = 0; i < before.size(); ++i) {
          largest = std::max(largest, std::abs(expected.w[i] - before[i]));
        }
        moved += largest;
      }
      const auto w = actual.variable("w"), m = actual.variable("m"), v = actual.variable("v");
      for (size_t i = 0; i < w.size(); ++i) {
        const double w_bound = test::rounding_bound(36) * (std::abs(expected.w[i]) + 2 * moved);
        const double m_bound = test::rounding_bound(3 * 20) * std::max(10., std::abs(expected.m[i]));
        const double v_bound = test::rounding_bound(3 * 20) * expected.v[i];
        const double w_error = std::abs(static_cast<double>(w[i]) - expected.w[i]) / w_bound;
        const double m_error = std::abs(static_cast<double>(m[i]) - expected.m[i]) / m_bound;
        const double v_error = std::abs(static_cast<double>(v[i]) - expected.v[i]) / v_bound;
        worst = std::max(worst, w_error);
        if (!(w_error <= 1 && m_error <= 1 && v_error <= 1)) {
          FAIL() << c.kind << c.settings << ", element " << i << " of " << n << ": errors of w, m, v are "
                 << w_error << ", " << m_error << ", " << v_error << " of their bounds; expected w "
                 << expected.w[i] << ", found " << w[i];
        }
      }
    }
    RecordProperty(c.kind + c.settings.dump(), std::to_string(worst));
  }
}

TEST_P(EveryIsa, TransformerXlTestVector) {
  Step lamb("lamb", Json::object(), 2, false);
  lamb.set_weights({3, 4});
  lamb.run({0.1, -0.2}, 1, 0.01f);
  EXPECT_NEAR(lamb.variable("w")[0], 2.964647, 1e-6);
  EXPECT_NEAR(lamb.variable("w")[1], 4.035358, 1e-6);
}

TEST_P(EveryIsa, NvLambTestVector) {
  Step nvlamb("nvlamb", Json::object(), 2, false);
  nvlamb.set_weights({3, 4});
  nvlamb.run({0.1, -0.2}, 1, 0.006f);
  EXPECT_NEAR(nvlamb.variable("w")[0], 2.978054, 1e-6);
  EXPECT_NEAR(nvlamb.variable("w")[1], 4.020454, 1e-6);
}

TEST_P(EveryIsa, AnyNumberOfThreadsGivesTheSameBytes) {
  const int64_t n = 5 * kernels::kSquarePiece + 77;
  for (const Case& c : cases()) {
    std::vector<float> first;
    for (int threads : {1, 2, 3}) {
      set_thread_count(threads);
      Step step(c.kind, c.settings, n);
      step.set_weights(random_numbers(n, 3, false));
      for (int t = 1; t <= 7; ++t)
        step.run(random_numbers(n, static_cast<uint64_t>(t), true), t, 0.01f, 0.5f);
      std::vector<float> all;
      for (const char* name : {"w", "m", "v"}) {
        all.insert(all.end(), step.variable(name).begin(), step.variable(name).end());
      }
      if (first.empty()) first = all;
      EXPECT_EQ(std::memcmp(first.data(), all.data(), all.size() * sizeof(float)), 0)
          << c.kind << " " << threads;
    }
  }
}

TEST_P(EveryIsa, ZeroWeightsAndZeroGradients) {
  for (const Case& c : cases()) {
    // Nothing to do: 0 stays 0, no NaN from 0 / 0.
    Step still(c.kind, c.settings, 17);
    still.run(Numbers(17), 1, 0.01f);
    for (const char* name : {"w", "m", "v"}) {
      for (float x : still.variable(name)) EXPECT_EQ(x, 0) << c.kind << c.settings << name;
    }
  }
  // |w| = 0: ratio 1, so the step is the rate times sign(g) (both moments corrected).
  Step from_zero("nvlamb", Json::object(), 17);
  from_zero.run(Numbers(17, 0.5), 1, 0.01f);
  for (float x : from_zero.variable("w")) EXPECT_NEAR(x, -0.01, 1e-7);
  // |a| = 0: weights do not move.
  Step no_gradient("lamb", Json::object(), 17);
  no_gradient.set_weights(Numbers(17, 2));
  no_gradient.run(Numbers(17), 1, 0.01f);
  for (float x : no_gradient.variable("w")) EXPECT_EQ(x, 2);
}

// As a float, 1 - 1e-4 is off by 1.7e-8: multiplied into weights up to 3.3, 300 times, that makes 1.6e-5.
TEST_P(EveryIsa, DecayIsNotRoundedBeforeItIsApplied) {
  const Json settings = {{"decoupled", true}, {"weight_decay", 0.01}};
  Reference expected(random_numbers(1000, 7, false));
  Step step("adam", settings, 1000);
  step.set_weights(expected.w);
  for (int t = 1; t <= 300; ++t) {
    const Numbers& g = random_numbers(1000, static_cast<uint64_t>(1000 + t), false);
    step.run(g, t, 0.01f);
    expected.adam(settings, g, t, static_cast<double>(0.01f));
  }
  const auto w = step.variable("w");
  for (size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(w[i], expected.w[i], 8e-6) << i;
}

TEST_P(EveryIsa, MomentsNeverBecomeSubnormal) {
  Step step("adam", Json::object(), 17);
  step.run(Numbers(17, 1e-18), 1, 1e-3f);
  for (int t = 2; t <= 2000; ++t) step.run(Numbers(17), t, 1e-3f);
  for (float m : step.variable("m")) EXPECT_EQ(m, 0);
  for (const char* name : {"m", "v"}) {
    for (float x : step.variable(name)) EXPECT_TRUE(x == 0 || std::isnormal(x)) << name << x;
  }
}

TEST_P(EveryIsa, NaNGradientShowsInTheWeights) {
  for (const Case& c : cases()) {
    Step step(c.kind, c.settings, 40);
    step.set_weights(Numbers(40, 1));
    Numbers g(40, 0.1);
    g[37] = std::numeric_limits<double>::quiet_NaN();
    step.run(g, 10, 0.01f);
    EXPECT_TRUE(std::isnan(step.variable("w")[37])) << c.kind << c.settings;
    EXPECT_TRUE(std::isnan(step.variable("m")[37])) << c.kind << c.settings;
  }
}

struct Norm {
  double factor, norm;
};

Norm run_global_norm(const std::vector<Numbers>& gradients, const Json& settings) {
  auto graph = std::make_shared<graph::Graph>();
  std::vector<graph::ValueId> ids;
  for (size_t i = 0; i < gradients.size(); ++i) {
    ids.push_back(graph->input(text("g", i), {static_cast<int64_t>(gradients[i].size())}));
  }
  const auto outputs = ops::add(*graph, "global_norm", ids, settings);
  for (graph::ValueId id : outputs) graph->mark_output(id);
  graph::Variables variables;
  graph::Program program(graph, variables);
  for (size_t i = 0; i < gradients.size(); ++i) {
    std::copy(gradients[i].begin(), gradients[i].end(), program.tensor(ids[i]).f32());
  }
  program.run();
  return {static_cast<double>(*program.tensor(outputs[0]).f32()),
          static_cast<double>(*program.tensor(outputs[1]).f32())};
}

TEST_P(EveryIsa, GlobalNormMatchesADoubleLoop) {
  std::vector<Numbers> gradients;
  double square = 0;
  for (int64_t n : {1, 15, 16, 17, 63, 64, 65, 1000, 70000}) {
    gradients.push_back(random_numbers(n, static_cast<uint64_t>(n), true));
    for (double g : gradients.back()) square += g * g;
    const double norm = std::sqrt(square);
    for (double limit : {0.25, 1e6}) {
      const Norm found = run_global_norm(gradients, {{"limit", limit}});
      EXPECT_NEAR(found.norm, norm, 1e-6 * norm) << n;
      EXPECT_NEAR(found.factor, std::min(1., limit / (norm + 1e-6)), 1e-6 * found.factor) << n;
    }
  }
  EXPECT_EQ(run_global_norm(gradients, Json::object()).factor, 1);
  Norm by_threads[2];
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    by_threads[threads - 1] = run_global_norm(gradients, {{"limit", 1}});
  }
  EXPECT_EQ(by_threads[0].norm, by_threads[1].norm);
  EXPECT_EQ(by_threads[0].factor, by_threads[1].factor);
}

TEST_P(EveryIsa, GlobalNormOfNvLamb) {  // 1 / max(1, G)
  const Json settings = {{"limit", 1}, {"epsilon", 0}};
  EXPECT_EQ(run_global_norm({{3}, {0, 4}}, settings).factor, static_cast<double>(0.2f));
  EXPECT_EQ(run_global_norm({{0.3}, {0, 0.4}}, settings).factor, 1);
  EXPECT_EQ(run_global_norm({{0}, {0, 0}}, settings).factor, 1);
  EXPECT_EQ(run_global_norm({{0}, {0, 0}}, settings).norm, 0);
}

TEST_P(EveryIsa, GlobalNormHidesNothing) {
  for (size_t at : {size_t{0}, size_t{16}, size_t{99}}) {
    Numbers g(100, 0.1);
    g[at] = std::numeric_limits<double>::quiet_NaN();
    const Norm nan = run_global_norm({Numbers(5, 1), g}, {{"limit", 1}});
    EXPECT_TRUE(std::isnan(nan.norm) && std::isnan(nan.factor));
    EXPECT_TRUE(std::isnan(run_global_norm({g}, Json::object()).norm));
    g[at] = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(run_global_norm({g, Numbers(5, 1)}, {{"limit", 1}}).norm,
              std::numeric_limits<double>::infinity());
  }
}

TEST(RAdam, ScheduleOfTheRectification) {  // b2 = 0.999 holds from step 6 on
  const auto fifth = ops::rectification(0.9, 0.999, 5), sixth = ops::rectification(0.9, 0.999, 6);
  EXPECT_LT(fifth.rho, 5);
  EXPECT_FALSE(fifth.rectified);
  EXPECT_NEAR(fifth.rate, 1 / (1 - std::pow(0.9, 5)), 1e-12);
  EXPECT_GE(sixth.rho, 5);
  EXPECT_TRUE(sixth.rectified);
  // rho starts near t and ends at 2 / (1 - b2) - 1 with the full Adam step.
  EXPECT_NEAR(ops::rectification(0.9, 0.999, 1).rho, 1, 1e-9);
  EXPECT_NEAR(fifth.rho, 5, 0.01);
  EXPECT_NEAR(sixth.rho, 6, 0.01);
  const auto late = ops::rectification(0.9, 0.999, 100000);
  EXPECT_NEAR(late.rho, 1999, 1e-6);
  EXPECT_NEAR(late.rate, 1, 1e-9);
}

TEST(Optimizer, RefusesWhatMakesNoSense) {
  for (const char* kind : {"adam", "radam", "lamb", "nvlamb"}) {
    EXPECT_NO_THROW(Step(kind, Json::object(), 4));
    EXPECT_THROW(Step(kind, {{"beta1", 1.0}}, 4), Error);
    EXPECT_THROW(Step(kind, {{"beta2", -0.1}}, 4), Error);
    EXPECT_THROW(Step(kind, {{"epsilon", 0}}, 4), Error);
    EXPECT_THROW(Step(kind, {{"epsilon", 1e-60}}, 4), Error);
    EXPECT_THROW(Step(kind, {{"weight_decay", -1}}, 4), Error);
    EXPECT_THROW(Step(kind, {{"momentum", 1}}, 4), Error);
    Step step(kind, Json::object(), 4);
    EXPECT_THROW(step.run(Numbers(4), 0, 0.1f), Error);
    graph::Graph& g = step.graph();
    const auto w = g.find("w"), m = g.find("m"), v = g.find("v"), rate = g.find("rate"),
               count = g.find("step");
    const auto other = g.input("other", {5});
    EXPECT_THROW(ops::add(g, kind, {w, other, m, v, rate, count}), Error);
    EXPECT_THROW(ops::add(g, kind, {w, g.find("g"), m, v, rate, rate}), Error);
    EXPECT_THROW(ops::add(g, kind, {w, g.find("g"), m, v, count, count}), Error);
    EXPECT_THROW(ops::add(g, kind, {w, g.find("g"), m, v, rate}), Error);
    EXPECT_THROW(ops::add(g, kind, {w, g.find("g"), m, v, rate, count, other}), Error);
    EXPECT_THROW(ops::add(g, kind, {w, graph::kNone, m, v, rate, count}), Error);
  }
  EXPECT_THROW(Step("lamb", {{"norm_limit", -1}}, 4), Error);
  EXPECT_THROW(Step("radam", {{"early", "later"}}, 4), Error);
  EXPECT_THROW(run_global_norm({}, Json::object()), Error);
  EXPECT_THROW(run_global_norm({{1}}, {{"limit", -1}}), Error);
}

}  // namespace
}  // namespace heed
