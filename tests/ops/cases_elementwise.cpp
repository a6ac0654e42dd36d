#include <cmath>

#include "tests/ops/cases.h"

namespace heed::test {
namespace {

constexpr const char* kActivations[] = {"none", "relu", "gelu", "gelu_tanh", "tanh"};

void add(OracleCases& cases, OracleCase given) { cases.add("elementwise", std::move(given)); }

void linear_case(OracleCases& cases, Rng& rng, Shape x, int64_t out, const char* activation, bool bias,
                 bool residual, bool transposed) {
  const int64_t in = x.dim(-1);
  const Shape w = transposed ? Shape{out, in} : Shape{in, out};
  const double scale = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 1;
  add(cases, {.name = text("linear ", x.str(), " to ", out, " ", activation, bias ? " bias" : "",
                           residual ? " residual" : "", transposed ? " transposed" : ""),
              .op = "linear",
              .settings = {{"activation", activation}, {"transposed", transposed}},
              .inputs = {normal(x, rng), normal(w, rng, scale), bias ? normal({out}, rng) : absent(),
                         residual ? normal(x.with_dim(-1, out), rng) : absent()},
              .length = std::max({in, out, x.rows()})});
}

void linear_cases(OracleCases& cases, Rng& rng) {
  for (const char* activation : kActivations) {
    for (const int options : {0, 1, 2, 3}) {
      linear_case(cases, rng, {3, 5, 17}, 9, activation, options & 1, options & 2,
                  options == 1 || options == 2);
    }
  }
  for (const int64_t width : kWidths)
    linear_case(cases, rng, {3, width}, 34 - width, "gelu", true, true, width % 2 == 0);
  linear_case(cases, rng, {1, 1, 1}, 1, "tanh", true, true, false);
  linear_case(cases, rng, {4}, 3, "relu", true, true, false);      // one row without a batch
  linear_case(cases, rng, {0, 4}, 3, "gelu", true, true, false);   // no rows: weight gradients are 0
  linear_case(cases, rng, {3, 0}, 2, "none", true, false, false);  // an empty sum
  // Large enough for two threads, cut by rows and by columns.
  linear_case(cases, rng, {301, 129}, 131, "gelu_tanh", true, true, false);
  linear_case(cases, rng, {129, 200}, 515, "relu", true, false, true);
  add(cases, {.name = "linear kept preactivation",
              .op = "linear",
              .settings = {{"activation", "gelu"}, {"keep_preactivation", true}},
              .inputs = {normal({3, 17}, rng), normal({17, 5}, rng, 0.25), normal({5}, rng), absent()},
              .length = 17});
  add(cases, {.name = "linear of itself",  // x W with x and W one value
              .op = "linear",
              .inputs = {normal({17, 17}, rng, 0.5), same_as(0), absent(), absent()},
              .length = 17});
  add(cases, {.name = "linear onto its own input",
              .op = "linear",
              .inputs = {normal({3, 9}, rng), normal({9, 9}, rng, 0.3), absent(), same_as(0)},
              .length = 9});
}

void activation_cases(OracleCases& cases, Rng& rng) {
  for (const char* activation : kActivations) {
    for (const int64_t n : kWidths) {
      add(cases, {.name = text("activation ", activation, " ", n),
                  .op = "activation",
                  .settings = {{"activation", activation}},
                  .inputs = {normal({n}, rng, 2)}});
    }
    // Tails, zero, and the borders between the pieces of the approximations. ReLU has no derivative at 0;
    // ours and PyTorch's say 0.
    add(cases,
        {.name = text("activation ", activation, " far out"),
         .op = "activation",
         .settings = {{"activation", activation}},
         .inputs = {numbers({2, 12}, {0.f,      1e-30f,  -1e-8f, 1e-4f, -0.0999f, 0.1001f, 0.99f, 1.01f,
                                      -1.4141f, 1.4143f, 3.f,    -3.f,  5.f,      -5.f,    8.7f,  -8.7f,
                                      12.f,     -12.f,   40.f,   -40.f, 90.f,     -90.f,   1e4f,  -1e4f})}});
    add(cases, {.name = text("activation ", activation, " many"),
                .op = "activation",
                .settings = {{"activation", activation}},
                .inputs = {normal({3, 40001}, rng, 3)}});
  }
  add(cases, {.name = "activation of nothing",
              .op = "activation",
              .settings = {{"activation", "gelu"}},
              .inputs = {normal({0, 3}, rng)}});
}

void layer_norm_case(OracleCases& cases, Rng& rng, Shape shape, double shift, double epsilon) {
  const int64_t D = shape.dim(-1);
  OracleInput x = normal(shape, rng);
  for (float& value : x.floats) value += static_cast<float>(shift);
  add(cases, {.name = text("layer_norm ", shape.str(), " shift ", shift, " epsilon ", epsilon),
              .op = "layer_norm",
              .settings = {{"epsilon", epsilon}},
              .inputs = {std::move(x), uniform({D}, rng, 0.5, 1.5), normal({D}, rng)},
              .length = std::max(D, shape.rows()),
              // x - mean(x) loses the digits of the shift; without variance (D = 1) rounding errors are
              // divided by sqrt(epsilon).
              .conditioning = 1 + shift + (D == 1 ? 1 / std::sqrt(epsilon) : 0)});
}

void layer_norm_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t D : kWidths) layer_norm_case(cases, rng, {3, 5, D}, 0, 1e-5);
  layer_norm_case(cases, rng, {1, 64}, 0, 1e-12);
  layer_norm_case(cases, rng, {17}, 0, 1e-5);
  layer_norm_case(cases, rng, {5, 100}, 100, 1e-5);  // a variance from E[x^2] - E[x]^2 would be lost here
  layer_norm_case(cases, rng, {0, 8}, 0, 1e-5);
  layer_norm_case(cases, rng, {403, 130}, 0, 1e-5);   // two threads, several partial sums
  add(cases, {.name = "layer_norm of equal numbers",  // no variance: epsilon alone
              .op = "layer_norm",
              .settings = {{"epsilon", 1e-2}},
              .inputs = {numbers({2, 3}, {2, 2, 2, -1, -1, -1}), normal({3}, rng), normal({3}, rng)},
              .length = 3});
}

void arithmetic_cases(OracleCases& cases, Rng& rng) {
  for (const Shape& shape :
       {Shape{1}, Shape{0}, Shape{3, 5}, Shape{16}, Shape{15}, Shape{2, 3, 17}, Shape{7, 20001}}) {
    const int64_t n = shape.elements();
    for (const char* op : {"add", "mul"}) {
      add(cases,
          {.name = text(op, " ", shape.str()), .op = op, .inputs = {normal(shape, rng), normal(shape, rng)}});
      add(cases, {.name = text(op, " with itself ", shape.str()),
                  .op = op,
                  .inputs = {normal(shape, rng), same_as(0)}});
    }
    add(cases, {.name = text("scale ", shape.str()),
                .op = "scale",
                .settings = {{"factor", -1.75}},
                .inputs = {normal(shape, rng)}});
    add(cases, {.name = text("scale by a value ", shape.str()),
                .op = "scale",
                .settings = {{"factor", 0.3}},
                .inputs = {normal(shape, rng), normal({1}, rng)},
                .length = n});
    for (const int64_t count : {1, 3}) {
      std::vector<OracleInput> inputs = {uniform({count}, rng, 0, 1)};
      for (int64_t i = 0; i < count; ++i) inputs.push_back(normal(shape, rng));
      add(cases,
          {.name = text("mix of ", count, " ", shape.str()), .op = "mix", .inputs = inputs, .length = n});
    }
  }
  add(cases, {.name = "mix of one value twice",
              .op = "mix",
              .inputs = {uniform({3}, rng, 0, 1), normal({2, 17}, rng), normal({2, 17}, rng), same_as(1)},
              .length = 34});
  add(cases, {.name = "scale by itself", .op = "scale", .inputs = {numbers({1}, {1.5f}), same_as(0)}});
  for (const Shape& shape : {Shape{1}, Shape{2, 3}, Shape{0}}) {
    std::vector<int64_t> dims;
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
    add(cases, {.name = text("constant ", shape.str()),
                .op = "constant",
                .settings = {{"shape", dims}, {"value", -0.125}},
                .seeded = {}});
  }
}

void arrange_cases(OracleCases& cases, Rng& rng) {
  const Shape shapes[] = {{5}, {3, 4}, {2, 3, 5}, {1, 17, 2}};
  for (const Shape& shape : shapes) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const auto sized = [&](int64_t size) { return normal(shape.with_dim(axis, size), rng); };
      const Json along = {{"axis", axis}};
      add(cases, {.name = text("concat ", shape.str(), " axis ", axis),
                  .op = "concat",
                  .settings = along,
                  .inputs = {sized(shape.dim(axis)), sized(1), sized(16)}});
      add(cases, {.name = text("concat with nothing ", shape.str(), " axis ", axis),  // an empty memory
                  .op = "concat",
                  .settings = along,
                  .inputs = {sized(0), sized(3)}});
      add(cases, {.name = text("concat with itself ", shape.str(), " axis ", axis),
                  .op = "concat",
                  .settings = along,
                  .inputs = {sized(2), same_as(0)}});
      for (const auto& [begin, end] :
           {std::pair<int64_t, int64_t>{0, 1}, {0, 20}, {3, 20}, {7, 12}, {4, 4}}) {
        add(cases, {.name = text("slice ", shape.str(), " axis ", axis, " from ", begin, " to ", end),
                    .op = "slice",
                    .settings = {{"axis", axis}, {"begin", begin}, {"end", end}},
                    .inputs = {sized(20)}});
      }
    }
  }
}

void dropout_cases(OracleCases& cases, Rng& rng) {
  const uint64_t seed = 0xfedcba9876543210, step = 0x1ffffffffULL;  // both halves of both count
  for (const Shape& shape : {Shape{1}, Shape{0}, Shape{15}, Shape{3, 16}, Shape{17}, Shape{63}, Shape{65},
                             Shape{3, 5, 13}, Shape{2, 30011}}) {
    for (const double rate : {0.1, 0.5, 0.9}) {
      if (shape.elements() > 10000 && rate != 0.1) continue;  // masks in plain Python take their time
      add(cases, {.name = text("dropout ", shape.str(), " ", rate),
                  .op = "dropout",
                  .settings = {{"rate", rate}, {"stream", 3}},
                  .inputs = {normal(shape, rng), random_state(seed, step)}});
    }
    std::vector<int64_t> dims;
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
    add(cases, {.name = text("dropout_mask ", shape.str()),
                .op = "dropout_mask",
                .settings = {{"rate", 0.25}, {"stream", 9}, {"shape", dims}},
                .inputs = {random_state(seed, step)},
                .seeded = {}});
  }
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 5, 17}, Shape{2, 7, 16}, Shape{3, 4, 67},
                             Shape{1, 33, 8}, Shape{2, 50, 700}}) {
    add(cases, {.name = text("dropout variational ", shape.str()),
                .op = "dropout",
                .settings = {{"rate", 0.3}, {"stream", 70000}, {"variational", true}},
                .inputs = {normal(shape, rng), random_state(seed, 1)}});
  }
}

void gumbel_softmax_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t choices : {1, 2, 3, 5, 9}) {
    for (const float temperature : {5.f, 1.f, 0.1f}) {
      const auto with = [&](const char* what, const OracleInput& noise, bool divided = true) {
        add(cases, {.name = text("gumbel_softmax of ", choices, " at ", temperature, what),
                    .op = "gumbel_softmax",
                    .settings = {{"stream", 6}},
                    .inputs = {normal({choices}, rng),
                               divided ? fixed(numbers({1}, {temperature})) : absent(), noise},
                    .length = choices,
                    // Logits are divided by the temperature before they are exponents.
                    .conditioning = 10 / std::min(1.0, static_cast<double>(temperature))});
      };
      with("", absent());
      with(", drawn", random_state(0xfedcba9876543210, 0x1ffffffffULL));
      if (temperature == 1) with(", of no temperature", absent(), false);
    }
  }
}

void latency_loss_cases(OracleCases& cases, Rng& rng) {
  for (const char* form : {"none", "power", "log-power"}) {
    for (const int64_t layers : {1, 4}) {
      std::vector<float> times = {3.f};
      for (int64_t i = 0; i < 3 * layers; ++i) times.push_back(static_cast<float>(i % 3 * (i + 1)));
      std::vector<OracleInput> inputs = {normal({1}, rng),
                                         fixed(numbers({static_cast<int64_t>(times.size())}, times))};
      for (int64_t i = 0; i < layers; ++i) inputs.push_back(numbers({3}, {0.2f, 0.5f, 0.3f}));
      add(cases, {.name = text("latency_loss of ", layers, ", ", form),
                  .op = "latency_loss",
                  .settings = {{"form", form}, {"alpha", 0.3}, {"beta", 0.7}},
                  .inputs = std::move(inputs),
                  .length = 3 * layers});
    }
  }
}

void sinusoid_cases(OracleCases& cases) {
  for (const auto& [length, width, clamp] : {std::array<int64_t, 3>{1, 2, -1},
                                             {17, 16, -1},
                                             {33, 34, 20},
                                             {8, 6, 1},
                                             {40, 30, 400},
                                             {2000, 8, -1}}) {
    add(cases, {.name = text("sinusoid ", length, " x ", width, " clamp ", clamp),
                .op = "sinusoid",
                .settings = {{"length", length}, {"width", width}, {"clamp", clamp}},
                .seeded = {}});
  }
}

}  // namespace

void add_elementwise_cases(OracleCases& cases) {
  Rng rng(1);
  linear_cases(cases, rng);
  activation_cases(cases, rng);
  layer_norm_cases(cases, rng);
  arithmetic_cases(cases, rng);
  arrange_cases(cases, rng);
  dropout_cases(cases, rng);
  gumbel_softmax_cases(cases, rng);
  latency_loss_cases(cases, rng);
  sinusoid_cases(cases);
}

}  // namespace heed::test
