// The SRU recurrence and its gradients against plain loops in double, and the laws it obeys.
#include "heed/kernels/sru.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/graph/program.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/ops.h"
#include "heed/ops/sru.h"
#include "tests/support/rounding.h"

namespace heed {
namespace {

using Doubles = std::vector<double>;

struct Case {
  int64_t B = 1, T = 1, D = 1;
  ops::SruSettings settings;
  bool c0 = false, mask = false, padding = false;
  bool from_h = true, from_c = true;  // which outputs the loss depends on
  bool in_place = false;              // let the plan put gradients where they overwrite what they are made of

  bool has_x() const { return settings.skip && settings.slots == 3; }
  bool tanh() const { return settings.activation == Activation::kTanh; }
  std::string str() const {
    return text("B ", B, " T ", T, " D ", D, " ", to_json(settings).dump(), c0 ? " c0" : "",
                mask ? " mask" : "", padding ? " padding" : "", from_h ? " dh" : "", from_c ? " dc_last" : "",
                in_place ? " in place" : "");
  }
};

// Inputs, absent ones empty; all values are exact in float.
struct Inputs {
  Doubles u, x, v, bias, c0, mask, dh, dc_last;
  std::vector<int32_t> padding;
};

struct Results {
  Doubles h, c_last, du, dx, dv, dbias, dc0;
};

Doubles random(int64_t n, Rng& rng, double size = 1) {
  Doubles values(static_cast<size_t>(n));
  for (double& value : values) value = static_cast<float>(size * rng.uniform(-1, 1));
  return values;
}

Inputs random_inputs(const Case& c, uint64_t seed) {
  Rng rng(seed);
  Inputs in;
  in.u = random(c.B * c.T * c.settings.slots * c.D, rng, 2);
  in.v = random(2 * c.D, rng);
  in.bias = random(2 * c.D, rng);
  if (c.has_x()) in.x = random(c.B * c.T * c.D, rng);
  if (c.c0) in.c0 = random(c.B * c.D, rng);
  if (c.mask) {
    for (int64_t i = 0; i < c.B * c.D; ++i) in.mask.push_back(rng.below(3) == 0 ? 0 : 1.5);
  }
  if (c.padding) {
    for (int64_t i = 0; i < c.B * c.T; ++i) in.padding.push_back(rng.below(3) == 0 ? 1 : 0);
  }
  if (c.from_h) in.dh = random(c.B * c.T * c.D, rng);
  if (c.from_c) in.dc_last = random(c.B * c.D, rng);
  return in;
}

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }
double or_else(const Doubles& values, int64_t i, double otherwise) {
  return values.empty() ? otherwise : values[static_cast<size_t>(i)];
}

// The formulas as they are written in the papers, one unit of one batch row after the other.
Results reference(const Case& c, const Inputs& in) {
  const int64_t B = c.B, T = c.T, D = c.D, slots = c.settings.slots;
  Results out;
  const auto zeros = [](int64_t n) { return Doubles(static_cast<size_t>(n)); };
  out.h = zeros(B * T * D), out.c_last = zeros(B * D), out.du = zeros(B * T * slots * D),
  out.dx = zeros(c.has_x() ? B * T * D : 0);
  out.dv = zeros(2 * D), out.dbias = zeros(2 * D), out.dc0 = zeros(B * D);
  const auto at = [](auto& values, int64_t i) -> auto& { return values[static_cast<size_t>(i)]; };
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t j = 0; j < D; ++j) {
      const bool reversed = c.settings.bidirectional && j >= D / 2;
      const double vf = at(in.v, j), vr = at(in.v, D + j), bf = at(in.bias, j), br = at(in.bias, D + j);
      const double mask = or_else(in.mask, b * D + j, 1);
      const auto step = [&](int64_t i) { return b * T + (reversed ? T - 1 - i : i); };
      const auto u = [&](int64_t s, int64_t slot) { return at(in.u, (s * slots + slot) * D + j); };
      const auto padded = [&](int64_t s) { return !in.padding.empty() && at(in.padding, s) != 0; };
      const auto skip = [&](int64_t s) {
        return slots == 4 ? u(s, 3) : c.has_x() ? c.settings.rescale * at(in.x, s * D + j) : 0;
      };
      const auto g = [&](double state) { return c.tanh() ? std::tanh(state) : state; };
      Doubles state = {or_else(in.c0, b * D + j, 0)};  // state[i]: before step i
      for (int64_t i = 0; i < T; ++i) {
        const int64_t s = step(i);
        const double before = state.back();
        if (padded(s)) {
          state.push_back(before);
          continue;
        }
        const double f = sigmoid(u(s, 1) + vf * before + bf), r = sigmoid(u(s, 2) + vr * before + br);
        state.push_back(f * before + (1 - f) * u(s, 0));
        at(out.h, s * D + j) = mask * r * g(state.back()) + (1 - mask * r) * skip(s);
      }
      at(out.c_last, b * D + j) = state.back();
      double e = or_else(in.dc_last, b * D + j, 0);
      for (int64_t i = T - 1; i >= 0; --i) {
        const int64_t s = step(i);
        if (padded(s)) continue;
        const double before = at(state, i), after = at(state, i + 1), dh = or_else(in.dh, s * D + j, 0);
        const double f = sigmoid(u(s, 1) + vf * before + bf), r = sigmoid(u(s, 2) + vr * before + br);
        const double slope = c.tanh() ? 1 - g(after) * g(after) : 1;
        const double a_r = dh * mask * (g(after) - skip(s)) * r * (1 - r);
        const double total = e + dh * mask * r * slope;
        const double a_f = total * (before - u(s, 0)) * f * (1 - f);
        const auto du = [&](int64_t slot) -> double& { return at(out.du, (s * slots + slot) * D + j); };
        du(0) = total * (1 - f), du(1) = a_f, du(2) = a_r;
        const double dskip = dh * (1 - mask * r);
        if (slots == 4) du(3) = dskip;
        if (c.has_x()) at(out.dx, s * D + j) = c.settings.rescale * dskip;
        at(out.dbias, j) += a_f, at(out.dbias, D + j) += a_r;
        at(out.dv, j) += a_f * before, at(out.dv, D + j) += a_r * before;
        e = total * f + a_f * vf + a_r * vr;
      }
      at(out.dc0, b * D + j) = e;
    }
  }
  return out;
}

// The same through the graph: the op, differentiated, planned and run.
Results run_graph(const Case& c, const Inputs& in) {
  auto g = std::make_shared<graph::Graph>();
  const int64_t B = c.B, T = c.T, D = c.D;
  std::vector<std::pair<std::string, const Doubles*>> fill;
  // Values that a node made may be overwritten by the plan, inputs may not.
  const auto input = [&](const char* name, const Doubles& values, Shape shape) {
    if (values.empty()) return ops::kNone;
    fill.push_back({name, &values});
    const ops::ValueId id = g->input(name, shape);
    return c.in_place ? ops::scale(*g, id, 1) : id;
  };
  ops::SruInputs values;
  values.u = input("u", in.u, {B, T, c.settings.slots * D});
  values.x = input("x", in.x, {B, T, D});
  values.v = input("v", in.v, {2 * D});
  values.bias = input("bias", in.bias, {2 * D});
  values.c0 = input("c0", in.c0, {B, D});
  values.mask = input("mask", in.mask, {B, D});
  if (!in.padding.empty()) values.padding = g->input("padding", {B, T}, DType::kI32);
  const ops::ValueId dh = input("dh", in.dh, {B, T, D}), dc_last = input("dc_last", in.dc_last, {B, D});
  const ops::SruOutputs outputs = ops::sru(*g, values, c.settings);
  std::map<ops::ValueId, ops::ValueId> seeds;
  if (dh) seeds[outputs.h] = dh;
  if (dc_last) seeds[outputs.c_last] = dc_last;
  std::map<ops::ValueId, ops::ValueId> gradients;
  const auto of = [&](const char* name) { return g->find(name); };
  if (!seeds.empty()) {
    std::vector<ops::ValueId> wrt = {of("u"), of("v"), of("bias")};
    if (values.x) wrt.push_back(of("x"));
    if (values.c0) wrt.push_back(of("c0"));
    gradients = ops::gradients(*g, seeds, wrt);
  }
  g->mark_output(outputs.h);
  g->mark_output(outputs.c_last);
  for (const auto& [value, gradient] : gradients) g->mark_output(gradient);
  g->tidy();

  graph::Variables variables;
  graph::Program program(g, variables);
  for (const auto& [name, numbers] : fill)
    std::copy(numbers->begin(), numbers->end(), program.input(name).f32());
  if (!in.padding.empty()) std::copy(in.padding.begin(), in.padding.end(), program.input("padding").i32());
  program.run();

  if (c.in_place && !gradients.empty()) {
    EXPECT_EQ(program.tensor(gradients.at(of("u"))).data, program.tensor(values.u).data);
    if (values.x) {
      EXPECT_EQ(program.tensor(gradients.at(of("x"))).data, program.tensor(dh ? dh : values.x).data);
    }
  }
  if (c.in_place && gradients.empty()) {
    if (values.x) {
      EXPECT_EQ(program.tensor(outputs.h).data, program.tensor(values.x).data);
    }
    if (values.c0) {
      EXPECT_EQ(program.tensor(outputs.c_last).data, program.tensor(values.c0).data);
    }
  }
  const auto read = [&](ops::ValueId id) {
    const auto span = program.tensor(id).floats();
    return Doubles(span.begin(), span.end());
  };
  Results out;
  out.h = read(outputs.h);
  out.c_last = read(outputs.c_last);
  if (gradients.empty()) return out;
  out.du = read(gradients.at(of("u")));
  out.dv = read(gradients.at(of("v")));
  out.dbias = read(gradients.at(of("bias")));
  if (values.x) out.dx = read(gradients.at(of("x")));
  if (values.c0) out.dc0 = read(gradients.at(of("c0")));
  return out;
}

// Largest errors seen, in units of the tolerance; printed at the end so that one can see how tight the bound
// is.
std::map<std::string, double> worst_seen;

// A step rounds about 16 times (each exponential counts twice), always relative to values no larger than the
// largest in play, and hands its error on by a factor dc_t/dc_{t-1} = f + (c - U0) vf f (1-f), around 1 at
// worst on average for these inputs: each step is a sum of 16 terms, and one follows the other. What is
// summed over steps and rows is one sum more.
void check_close(const char* name, const Doubles& actual, const Doubles& expected, int64_t steps,
                 int64_t terms = 0) {
  const double bound = test::rounding_bound(16, steps) + (terms ? test::rounding_bound(terms) : 0);
  worst_seen[name] = std::max(worst_seen[name], test::expect_close(actual, expected, bound, name, 1));
}

void check_close(const Case& c, const Results& actual, const Results& expected) {
  check_close("h", actual.h, expected.h, c.T);
  check_close("c_last", actual.c_last, expected.c_last, c.T);
  if (!c.from_h && !c.from_c) return;
  // Backward errors have come through the forward steps and then through the backward ones.
  check_close("du", actual.du, expected.du, 2 * c.T);
  check_close("dx", actual.dx, expected.dx, 2 * c.T);
  check_close("dv", actual.dv, expected.dv, 2 * c.T, c.B * c.T);
  check_close("dbias", actual.dbias, expected.dbias, 2 * c.T, c.B * c.T);
  if (c.c0) check_close("dc0", actual.dc0, expected.dc0, 2 * c.T);
}

void expect_same_bytes(const Results& a, const Results& b) {
  for (auto member : {&Results::h, &Results::c_last, &Results::du, &Results::dx, &Results::dv,
                      &Results::dbias, &Results::dc0}) {
    ASSERT_EQ((a.*member).size(), (b.*member).size());
    EXPECT_EQ(std::memcmp((a.*member).data(), (b.*member).data(), (a.*member).size() * sizeof(double)), 0);
  }
}

// All settings, with every extra input alone and all together.
std::vector<Case> all_options() {
  std::vector<ops::SruSettings> skips(4);
  skips[1].rescale = 1.7320508;
  skips[2].slots = 4;
  skips[3].skip = false;
  std::vector<Case> cases;
  for (ops::SruSettings settings : skips) {
    for (const Activation activation : {Activation::kNone, Activation::kTanh}) {
      for (const bool bidirectional : {false, true}) {
        settings.activation = activation;
        settings.bidirectional = bidirectional;
        Case plain;
        plain.settings = settings;
        plain.from_c = false;
        cases.push_back(plain);
        for (bool Case::*extra : {&Case::c0, &Case::mask, &Case::padding, &Case::from_c, &Case::in_place}) {
          cases.push_back(plain);
          cases.back().*extra = true;
          if (extra == &Case::from_c) cases.back().from_h = false;
        }
        Case all = plain;
        all.c0 = all.mask = all.padding = all.from_c = true;
        cases.push_back(all);
        all.in_place = true;
        cases.push_back(all);
        all.from_h = all.from_c = false;
        cases.push_back(all);
      }
    }
  }
  return cases;
}

// Every test runs once per instruction set this CPU has.
class Sru : public testing::TestWithParam<kernels::Isa> {
 protected:
  void SetUp() override {
    if (!kernels::supported(GetParam())) GTEST_SKIP() << "this CPU has no " << kernels::name_of(GetParam());
    kernels::force_isa(GetParam());
    set_thread_count(1);
  }
  void TearDown() override {
    kernels::force_isa(before_);
    set_thread_count(threads_before_);
  }

 private:
  kernels::Isa before_ = kernels::isa();
  int threads_before_ = thread_count();
};

INSTANTIATE_TEST_SUITE_P(Isa, Sru, testing::Values(kernels::Isa::kV3, kernels::Isa::kV4),
                         [](const auto& isa) { return isa.param == kernels::Isa::kV4 ? "v4" : "v3"; });

TEST_P(Sru, MatchesTheReferenceInDouble) {
  worst_seen.clear();
  uint64_t seed = 1;
  for (Case c : all_options()) {
    for (const int64_t units : {1, 7, 15, 16, 17, 33}) {
      for (const int64_t B : {1, 3}) {
        for (const int64_t T : {1, 9}) {
          c.B = B, c.T = T, c.D = c.settings.bidirectional ? 2 * units : units;
          const Inputs in = random_inputs(c, seed++);
          SCOPED_TRACE(c.str());
          check_close(c, run_graph(c, in), reference(c, in));
          if (HasFailure()) return;
        }
      }
    }
  }
  for (const auto& [name, share] : worst_seen) RecordProperty(name, text(share));
}

TEST_P(Sru, MatchesTheReferenceInSeveralBlocks) {
  for (Case c : all_options()) {
    c.B = 1, c.T = 3, c.D = c.settings.bidirectional ? 2 * 1041 : 2081;
    const Inputs in = random_inputs(c, 77);
    SCOPED_TRACE(c.str());
    check_close(c, run_graph(c, in), reference(c, in));
    if (HasFailure()) return;
  }
}

TEST_P(Sru, LongSequencesStayWithinTheBound) {
  Case c;
  c.B = 2, c.T = 500, c.D = 33, c.c0 = c.mask = true;
  const Inputs in = random_inputs(c, 5);
  check_close(c, run_graph(c, in), reference(c, in));
}

TEST_P(Sru, NoStepsGiveBackTheState) {
  const float c0[15] = {1, 2, 3}, weights[10] = {}, dc[15] = {4, 5, 6};
  float c_last[15], dc0[15], dv[10], dbias[10], partial[60];
  const kernels::SruInputs in{.batch = 3,
                              .steps = 0,
                              .width = 5,
                              .slots = 3,
                              .tanh = false,
                              .bidirectional = false,
                              .rescale = 1,
                              .u = nullptr,
                              .x = nullptr,
                              .v = weights,
                              .bias = weights,
                              .c0 = c0,
                              .mask = nullptr,
                              .padding = nullptr};
  kernels::sru({in, nullptr, c_last, nullptr});
  kernels::sru_backward({in, nullptr, nullptr, dc, nullptr, nullptr, dv, dbias, dc0, partial});
  EXPECT_EQ(std::memcmp(c_last, c0, sizeof c0), 0);
  EXPECT_EQ(std::memcmp(dc0, dc, sizeof dc), 0);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(dv[i] == 0 && dbias[i] == 0);
}

TEST_P(Sru, ThreadsDoNotChangeAByte) {
  for (const auto& [B, T, D] : {std::tuple<int64_t, int64_t, int64_t>{1, 64, 2082}, {5, 40, 514}}) {
    for (const bool bidirectional : {false, true}) {
      Case c;
      c.B = B, c.T = T, c.D = D, c.settings.bidirectional = bidirectional;
      c.c0 = c.mask = c.padding = true;
      const Inputs in = random_inputs(c, 9);
      SCOPED_TRACE(c.str());
      set_thread_count(1);
      const Results one = run_graph(c, in);
      for (const int threads : {2, 3}) {
        set_thread_count(threads);
        expect_same_bytes(run_graph(c, in), one);
      }
    }
  }
}

// Law: padding steps leave the state, its adjoint and the gradients of parameters as they are, whatever
// stands in them.
TEST_P(Sru, PaddingStepsMightAsWellNotBeThere) {
  for (const bool bidirectional : {false, true}) {
    Case full;
    full.B = 3, full.T = 9, full.D = 34, full.c0 = full.mask = true;
    full.settings.bidirectional = bidirectional;
    Inputs in = random_inputs(full, 3);
    in.padding.assign(27, 0);
    Case cut = full;
    cut.T = 5;
    Inputs kept = in;
    kept.padding.clear(), kept.u.clear(), kept.x.clear(), kept.dh.clear();
    const auto is_padding = [](int64_t t) { return t == 0 || t == 3 || t == 4 || t == 8; };
    for (int64_t s = 0; s < 27; ++s) {
      const auto row = [&](Doubles& values, int64_t width) {
        return std::span(values).subspan(static_cast<size_t>(s * width), static_cast<size_t>(width));
      };
      if (is_padding(s % 9)) {
        in.padding[static_cast<size_t>(s)] = 1;
        for (double& value : row(in.u, 3 * 34)) value = std::numeric_limits<double>::quiet_NaN();
        for (double& value : row(in.x, 34)) value = std::numeric_limits<double>::quiet_NaN();
      } else {
        for (double value : row(in.u, 3 * 34)) kept.u.push_back(value);
        for (double value : row(in.x, 34)) kept.x.push_back(value);
        for (double value : row(in.dh, 34)) kept.dh.push_back(value);
      }
    }
    const Results padded = run_graph(full, in);
    const Results without = run_graph(cut, kept);
    Results at_kept = padded;
    at_kept.h.clear(), at_kept.du.clear(), at_kept.dx.clear();
    for (int64_t s = 0; s < 27; ++s) {
      for (const auto& [member, width] :
           {std::pair{&Results::h, 34}, {&Results::du, 3 * 34}, {&Results::dx, 34}}) {
        for (int64_t i = 0; i < width; ++i) {
          const double value = (padded.*member)[static_cast<size_t>(s * width + i)];
          if (is_padding(s % 9)) {
            EXPECT_EQ(value, 0);
          } else {
            (at_kept.*member).push_back(value);
          }
        }
      }
    }
    expect_same_bytes(at_kept, without);
  }
}

// Law: a bidirectional run is two runs of half the width, one of them on reversed time.
TEST_P(Sru, BidirectionalIsTwoRuns) {
  for (Case both : all_options()) {
    if (!both.settings.bidirectional || (!both.from_h && !both.from_c)) continue;
    const int64_t B = 3, T = 9, D = 34, W = 17;
    both.B = B, both.T = T, both.D = D;
    const Inputs in = random_inputs(both, 21);
    SCOPED_TRACE(both.str());
    // values: [B, steps, D * parts] -> the half from `first` on, [B, steps, W * parts], time reversed if
    // asked
    const auto half = [&](const Doubles& values, int64_t rows, int64_t steps, int64_t parts, int64_t first,
                          bool reversed) {
      Doubles result;
      if (values.empty()) return result;
      for (int64_t b = 0; b < rows; ++b) {
        for (int64_t t = 0; t < steps; ++t) {
          for (int64_t part = 0; part < parts; ++part) {
            for (int64_t j = 0; j < W; ++j) {
              result.push_back(values[static_cast<size_t>(
                  ((b * steps + (reversed ? steps - 1 - t : t)) * parts + part) * D + first + j)]);
            }
          }
        }
      }
      return result;
    };
    const Results whole = run_graph(both, in);
    for (const bool reversed : {false, true}) {
      const int64_t first = reversed ? W : 0, slots = both.settings.slots;
      Case one = both;
      one.D = W, one.settings.bidirectional = false;
      Inputs part;
      part.u = half(in.u, B, T, slots, first, reversed), part.x = half(in.x, B, T, 1, first, reversed);
      part.v = half(in.v, 1, 1, 2, first, false), part.bias = half(in.bias, 1, 1, 2, first, false);
      part.c0 = half(in.c0, B, 1, 1, first, false), part.mask = half(in.mask, B, 1, 1, first, false);
      part.dh = half(in.dh, B, T, 1, first, reversed), part.dc_last = half(in.dc_last, B, 1, 1, first, false);
      part.padding = in.padding;
      if (reversed) {
        for (size_t b = 0; b < part.padding.size(); b += T)
          std::reverse(part.padding.begin() + static_cast<int64_t>(b),
                       part.padding.begin() + static_cast<int64_t>(b) + T);
      }
      Results expected;
      expected.h = half(whole.h, B, T, 1, first, reversed),
      expected.c_last = half(whole.c_last, B, 1, 1, first, false);
      expected.du = half(whole.du, B, T, slots, first, reversed),
      expected.dx = half(whole.dx, B, T, 1, first, reversed);
      expected.dv = half(whole.dv, 1, 1, 2, first, false),
      expected.dbias = half(whole.dbias, 1, 1, 2, first, false);
      expected.dc0 = half(whole.dc0, B, 1, 1, first, false);
      check_close(one, run_graph(one, part), expected);
    }
    if (HasFailure()) return;
  }
}

TEST_P(Sru, ClosedAndOpenGatesAreExact) {
  Case c;
  c.B = 1, c.T = 4, c.D = 20, c.c0 = true;
  Inputs in = random_inputs(c, 2);
  const double sizes[] = {-1e30, -200, -88, -50, 50, 88, 200, 1e30};
  for (size_t i = 0; i < in.u.size(); ++i) {
    if (i / 20 % 3 != 0) in.u[i] = static_cast<float>(sizes[i % 8]);
  }
  check_close(c, run_graph(c, in), reference(c, in));
}

TEST_P(Sru, NotANumberIsNotHidden) {
  Case c;
  c.B = 1, c.T = 3, c.D = 20;
  for (size_t slot = 0; slot < 3; ++slot) {
    Inputs in = random_inputs(c, 2);
    in.u[20 * slot + 4] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(run_graph(c, in).h[4])) << "slot " << slot;
  }
}

// The gradients of the reference itself, by central differences in double.
TEST(SruReference, GradientsMatchFiniteDifferences) {
  for (Case c : all_options()) {
    if (!c.from_h && !c.from_c) continue;
    c.B = 2, c.T = 5, c.D = 4;
    Inputs in = random_inputs(c, 13);
    SCOPED_TRACE(c.str());
    const auto loss = [&] {
      const Results out = reference(c, in);
      double total = 0;
      for (size_t i = 0; i < out.h.size(); ++i)
        total += out.h[i] * or_else(in.dh, static_cast<int64_t>(i), 0);
      for (size_t i = 0; i < out.c_last.size(); ++i)
        total += out.c_last[i] * or_else(in.dc_last, static_cast<int64_t>(i), 0);
      return total;
    };
    const Results out = reference(c, in);
    for (const auto& [values, gradient] : {std::pair{&in.u, &out.du},
                                           {&in.x, &out.dx},
                                           {&in.v, &out.dv},
                                           {&in.bias, &out.dbias},
                                           {&in.c0, &out.dc0}}) {
      for (size_t i = 0; i < values->size(); ++i) {
        const double value = (*values)[i], step = 1e-5;
        (*values)[i] = value + step;
        const double above = loss();
        (*values)[i] = value - step;
        const double below = loss();
        (*values)[i] = value;
        EXPECT_NEAR((above - below) / (2 * step), (*gradient)[i], 1e-8);
      }
    }
  }
}

TEST(SruOp, RefusesWhatDoesNotFit) {
  const auto refused = [](const std::string& because, const ops::SruSettings& settings,
                          const std::function<void(graph::Graph&, ops::SruInputs&)>& change = {}) {
    graph::Graph g;
    ops::SruInputs in;
    in.u = g.input("u", {2, 4, 3 * 5}), in.x = g.input("x", {2, 4, 5}), in.v = g.input("v", {10}),
    in.bias = g.input("bias", {10});
    if (change) change(g, in);
    try {
      ops::sru(g, in, settings);
      ADD_FAILURE() << "not refused: " << because;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    }
  };
  const auto with = [](auto member, auto value) {
    ops::SruSettings settings;
    settings.*member = value;
    return settings;
  };
  refused("slots must be 3 or 4", with(&ops::SruSettings::slots, 5));
  refused("multiple of slots", with(&ops::SruSettings::slots, 4));
  refused("must be none or tanh", with(&ops::SruSettings::activation, Activation::kRelu));
  refused("even width", with(&ops::SruSettings::bidirectional, true));
  refused("finite", with(&ops::SruSettings::rescale, INFINITY));
  refused("without skip x must be none", with(&ops::SruSettings::skip, false));
  ops::SruSettings contradiction = with(&ops::SruSettings::slots, 4);
  contradiction.skip = false;
  refused("skip must be true", contradiction);
  refused("x must be none", with(&ops::SruSettings::slots, 4), [](auto& g, auto& in) {
    in.u = g.input("u4", {2, 4, 20});
  });
  refused("needs x", {}, [](auto&, auto& in) { in.x = ops::kNone; });
  refused("u (input 0) needs 3 dimensions", {}, [](auto& g, auto& in) { in.u = g.input("flat", {8, 15}); });
  refused("input 2 is missing", {}, [](auto&, auto& in) { in.v = ops::kNone; });
  refused("v (input 2) needs shape [10]", {}, [](auto& g, auto& in) { in.v = g.input("short", {5}); });
  refused("c0 (input 4) needs shape [2, 5]", {}, [](auto& g, auto& in) { in.c0 = g.input("c0", {5}); });
  refused("mask (input 5) needs shape [2, 5]", {}, [](auto& g, auto& in) {
    in.mask = g.input("mask", {2, 4, 5});
  });
  refused("padding (input 6) needs type i32", {}, [](auto& g, auto& in) {
    in.padding = g.input("padding", {2, 4});
  });
}

TEST(SruOp, KeptStatesAndMasksHaveNoGradient) {
  graph::Graph g;
  const auto u = g.input("u", {2, 4, 15}), v = g.input("v", {10}), bias = g.input("bias", {10}),
             mask = g.input("mask", {2, 5});
  ops::SruSettings settings;
  settings.skip = false;
  settings.keep_states = true;
  const auto outputs =
      ops::add(g, "sru", {u, ops::kNone, v, bias, ops::kNone, mask, ops::kNone}, to_json(settings));
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_THROW(ops::gradients(g, {{outputs[2], g.input("dc", {2, 4, 5})}}, {u}), Error);
  const auto dh = g.input("dh", {2, 4, 5});
  EXPECT_THROW(ops::gradients(g, {{outputs[0], dh}}, {mask}), Error);
  EXPECT_NO_THROW(ops::gradients(g, {{outputs[0], dh}}, {u}));
}

}  // namespace
}  // namespace heed
