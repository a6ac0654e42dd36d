#include "tests/ops/cases.h"

namespace heed::test {
namespace {

void add(OracleCases& cases, OracleCase given) { cases.add("optimizer", std::move(given)); }

// One update, at a learning rate that makes it as large as the weights, so that its errors show. w is a
// parameter, m and v are states: that is how they are used, and the step writes into them.
void step_case(OracleCases& cases, Rng& rng, const std::string& op, const std::string& what,
               const Json& settings, int64_t n, int32_t step, bool clip) {
  const bool first = step == 1;
  add(cases, {.name = text(op, what, " [", n, "] step ", step, clip ? " clipped" : ""),
              .op = op,
              .settings = settings,
              .inputs = {in_role(normal({n}, rng), graph::Role::kParameter), normal({n}, rng, 0.1),
                         in_role(normal({n}, rng, first ? 0 : 0.05), graph::Role::kState),
                         in_role(uniform({n}, rng, first ? 0 : 1e-4, first ? 0 : 1e-2), graph::Role::kState),
                         uniform({1}, rng, 0.5, 2), integers({1}, {step}),
                         clip ? uniform({1}, rng, 0.1, 1) : absent()},
              .length = 16,  // a few operations per element; the norms of lamb must be sharper than that
              .seeded = {},
              .floor = 1e-2});
}

void family(OracleCases& cases, Rng& rng, const std::string& op, const std::string& what,
            const Json& settings) {
  for (const int64_t n : {1, 15, 16, 17, 1001}) {
    for (const int32_t step : {1, 5, 6, 400}) step_case(cases, rng, op, what, settings, n, step, n % 2 == 0);
  }
  step_case(cases, rng, op, what, settings, 70001, 12, true);  // two threads
}

// Several tensors in one step, or one tensor in several layers.
void layers_case(OracleCases& cases, Rng& rng, const std::string& op, const Json& settings,
                 const std::vector<Shape>& shapes) {
  std::vector<OracleInput> inputs;
  std::string sizes;
  const auto each = [&](const auto& make) {
    for (const Shape& shape : shapes) inputs.push_back(make(shape));
  };
  // The tensors differ in size: a norm of one alone would show.
  double size = 0.3;
  each([&](const Shape& shape) {
    sizes += shape.str();
    return in_role(normal(shape, rng, size *= 3), graph::Role::kParameter);
  });
  each([&](const Shape& shape) { return normal(shape, rng, 0.1); });
  each([&](const Shape& shape) { return in_role(normal(shape, rng, 0.05), graph::Role::kState); });
  each([&](const Shape& shape) { return in_role(uniform(shape, rng, 1e-4, 1e-2), graph::Role::kState); });
  inputs.insert(inputs.end(), {uniform({1}, rng, 0.5, 2), integers({1}, {3}), absent()});
  add(cases, {.name = text(op, " of ", sizes, " ", settings.dump()),
              .op = op,
              .settings = settings,
              .inputs = inputs,
              .length = 16,
              .seeded = {},
              .floor = 1e-2});
}

}  // namespace

void add_optimizer_cases(OracleCases& cases) {
  Rng rng(4);
  family(cases, rng, "adam", "", Json::object());
  family(cases, rng, "adam", " L2", {{"weight_decay", 0.1}, {"epsilon", 1e-3}});
  family(cases, rng, "adam", " decoupled",
         {{"weight_decay", 0.1}, {"decoupled", true}, {"beta1", 0.8}, {"beta2", 0.95}});
  family(cases, rng, "adam", " uncorrected",
         {{"weight_decay", 0.1}, {"decoupled", true}, {"bias_correction", false}, {"epsilon", 1e-6}});
  family(cases, rng, "radam", "", {{"weight_decay", 0.1}});
  family(cases, rng, "radam", " skipping", {{"weight_decay", 0.1}, {"early", "skip"}, {"epsilon", 1e-3}});
  family(cases, rng, "lamb", "", Json::object());
  family(cases, rng, "lamb", " decayed", {{"weight_decay", 0.01}, {"epsilon", 0.05}});
  family(cases, rng, "lamb", " without ratio", {{"ratio", false}});
  family(cases, rng, "nvlamb", "", Json::object());
  family(cases, rng, "nvlamb", " undecayed", {{"weight_decay", 0.0}});
  for (const char* op : {"lamb", "nvlamb"}) {
    layers_case(cases, rng, op, Json::object(), {{5, 7}, {5, 14}});
    layers_case(cases, rng, op, {{"weight_decay", 0.1}}, {{3}, {1}, {17}});
    layers_case(cases, rng, op, {{"layer_ends", {9, 17, 101}}}, {{101}});
    layers_case(cases, rng, op, {{"layer_ends", {1, 16400, 70001}}},
                {{70001}});  // beyond a piece; two threads
    layers_case(cases, rng, op, {{"layer_ends", {4, 30, 41}}, {"weight_decay", 0.1}}, {{3, 4}, {19}, {10}});
    layers_case(cases, rng, op, {{"layer_ends", {4, 31}}, {"ratio", false}}, {{3, 4}, {19}});
  }

  for (const Json& settings :
       {Json::object(), Json{{"momentum", 0.5}, {"nesterov", true}, {"weight_decay", 0.1}}}) {
    for (const int64_t n : {1, 15, 16, 17, 1001, 70001}) {
      const bool clip = n % 2 == 1;
      add(cases, {.name = text("sgd ", settings.dump(), " [", n, "]"),
                  .op = "sgd",
                  .settings = settings,
                  .inputs = {in_role(normal({n}, rng), graph::Role::kParameter), normal({n}, rng),
                             in_role(normal({n}, rng), graph::Role::kState), uniform({1}, rng, 0.5, 2),
                             integers({1}, {3}), clip ? uniform({1}, rng, 0.1, 1) : absent()},
                  .length = 16,
                  .seeded = {}});
    }
  }

  // Vectors worked out by hand; and norms of 0, where the ratio is 1.
  const auto printed = [&](const std::string& op, const std::string& what, std::vector<float> w,
                           std::vector<float> g, float rate) {
    add(cases, {.name = text(op, " ", what),
                .op = op,
                .inputs = {in_role(numbers({2}, std::move(w)), graph::Role::kParameter),
                           numbers({2}, std::move(g)), in_role(numbers({2}, {0, 0}), graph::Role::kState),
                           in_role(numbers({2}, {0, 0}), graph::Role::kState), numbers({1}, {rate}),
                           integers({1}, {1}), absent()},
                .seeded = {},
                .floor = 1e-2});
  };
  printed("lamb", "of the fact sheet", {3, 4}, {0.1f, -0.2f}, 0.01f);
  printed("nvlamb", "of the fact sheet", {3, 4}, {0.1f, -0.2f}, 0.006f);
  for (const char* op : {"lamb", "nvlamb"}) {
    printed(op, "of no weights", {0, 0}, {0.1f, -0.2f}, 0.01f);
    printed(op, "of no gradient", {3, 4}, {0, 0}, 0.01f);
    printed(op, "of nothing", {0, 0}, {0, 0}, 0.01f);
  }

  for (const double limit : {0.0, 0.25, 1e6}) {
    add(cases, {.name = text("global_norm limit ", limit),
                .op = "global_norm",
                .settings = {{"limit", limit}, {"epsilon", 0.5}},
                .inputs = {normal({1}, rng), normal({3, 17}, rng), normal({0}, rng), normal({500, 301}, rng)},
                .length = 16,  // relative to the norm
                .seeded = {},
                .floor = 1e-2});
  }
  add(cases, {.name = "global_norm of zeros",
              .op = "global_norm",
              .settings = {{"limit", 1}},
              .inputs = {numbers({3}, {0, 0, 0})},
              .seeded = {}});
}

}  // namespace heed::test
