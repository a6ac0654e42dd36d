#include "tests/ops/cases.h"

namespace heed::test {
namespace {

void add(OracleCases& cases, OracleCase given) { cases.add("vocabulary", std::move(given)); }

OracleInput targets_with_gaps(Shape shape, Rng& rng, int64_t V) {
  OracleInput targets = below(shape, rng, V);
  for (size_t i = 0; i < targets.ints.size(); i += 3) targets.ints[i] = i % 2 == 0 ? -1 : -100;
  return targets;
}

void embedding_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t D : kWidths) {
    add(cases, {.name = text("embedding of width ", D),
                .op = "embedding",
                .settings = {{"scale", 1.5}},
                .inputs = {below({3, 5}, rng, 7), normal({7, D}, rng), absent(), absent()},
                .length = 15});
    add(cases, {.name = text("embedding with positions of width ", D),
                .op = "embedding",
                .inputs = {below({3, 5}, rng, 7), normal({7, D}, rng), normal({12, D}, rng), absent()},
                .length = 15});
  }
  for (const int32_t first : {0, 3, 7}) {
    add(cases, {.name = text("embedding from position ", first),
                .op = "embedding",
                .settings = {{"scale", 0.25}},
                .inputs = {below({2, 5}, rng, 9), normal({9, 17}, rng), normal({12, 17}, rng),
                           integers({1}, {first})},
                .length = 10});
  }
  add(cases,
      {.name = "embedding of one word everywhere",
       .op = "embedding",
       .inputs = {integers({2, 9}, std::vector<int32_t>(18, 3)), normal({4, 16}, rng), absent(), absent()},
       .length = 18});
  add(cases, {.name = "embedding of nothing",
              .op = "embedding",
              .inputs = {integers({2, 0}, {}), normal({4, 5}, rng), absent(), absent()}});
  add(cases, {.name = "embedding, large",
              .op = "embedding",
              .inputs = {below({4, 300}, rng, 50), normal({50, 130}, rng), normal({300, 130}, rng), absent()},
              .length = 100});
  add(cases, {.name = "embedding whose positions are its table",  // two gradients for one value
              .op = "embedding",
              .inputs = {below({3, 5}, rng, 6), normal({6, 9}, rng), same_as(1), absent()},
              .length = 15});
}

struct Adaptive {
  std::string what;
  std::vector<int64_t> cutoffs;
  std::vector<int64_t> widths;              // of the tables; one with single_table
  std::vector<bool> projected;              // the projections
  int64_t d;                                // width of the model
  std::vector<int64_t> projection_of = {};  // of the output; empty: each table has its own
  bool single() const { return widths.size() == 1 && cutoffs.size() > 1; }
};

std::vector<Adaptive> adaptive_vocabularies() {
  return {
      {"one cluster", {9}, {17}, {false}, 17},
      {"one cluster projected", {9}, {5}, {true}, 17},
      {"two clusters", {5, 12}, {16, 4}, {true, true}, 16},
      {"four clusters", {4, 9, 20, 41}, {33, 16, 7, 1}, {true, true, true, true}, 33},
      {"head not projected", {4, 9, 20}, {15, 8, 3}, {false, true, true}, 15},
      {"a tail of one word", {3, 4, 8}, {8, 8, 8}, {false, false, false}, 8},
      {"single table", {4, 9, 20}, {9}, {false}, 9},
      {"single table projected", {4, 9, 20}, {9}, {true}, 17},
  };
}

// Outputs choose the projection of each cluster.
std::vector<Adaptive> adaptive_outputs() {
  std::vector<Adaptive> all = adaptive_vocabularies();
  all.push_back({"single table, two projections", {4, 9, 20, 41}, {9}, {true, true}, 17, {0, 1, 1, 1}});
  all.push_back({"single table, three projections", {4, 9, 20}, {9}, {true, true, true}, 17, {2, 0, 1}});
  all.push_back({"single table, in part projected", {4, 9, 20}, {9}, {true, false}, 9, {0, 1, 0}});
  all.push_back({"three tables, one projection", {4, 9, 20}, {8, 8, 8}, {true}, 15, {0, 0, 0}});
  return all;
}

std::vector<OracleInput> tables_and_projections(const Adaptive& a, Rng& rng) {
  std::vector<OracleInput> inputs;
  for (size_t i = 0; i < a.widths.size(); ++i) {
    const int64_t rows = a.single() ? a.cutoffs.back() : a.cutoffs[i] - (i == 0 ? 0 : a.cutoffs[i - 1]);
    inputs.push_back(normal({rows, a.widths[i]}, rng, 0.5));
  }
  for (size_t i = 0; i < a.projected.size(); ++i) {
    const int64_t width = a.widths[std::min(i, a.widths.size() - 1)];
    inputs.push_back(a.projected[i] ? normal({a.d, width}, rng, 0.3) : absent());
  }
  return inputs;
}

struct Dropping {
  std::string what;
  double rate;
  OracleInput state;
};

std::vector<Dropping> droppings() {
  const OracleInput state = random_state(0xfedcba9876543210, 0x1ffffffff);  // both halves of both count
  return {{"", 0, absent()},
          {", dropout", 0.4, state},
          {", nothing to drop with", 0.4, absent()},
          {", nothing to drop", 0, state}};
}

constexpr uint32_t kLastStream = 0xffffffff;  // the next cluster's is 0

void adaptive_embedding_cases(OracleCases& cases, Rng& rng) {
  for (const Adaptive& a : adaptive_vocabularies()) {
    const auto weights = tables_and_projections(a, rng);
    const auto with = [&](const std::string& what, OracleInput ids) {
      for (const auto& [dropping, rate, state] : droppings()) {
        std::vector<OracleInput> inputs = {ids};
        inputs.insert(inputs.end(), weights.begin(), weights.end());
        inputs.push_back(state);
        add(cases, {.name = text("adaptive_embedding, ", a.what, ", ", what, dropping),
                    .op = "adaptive_embedding",
                    .settings = {{"cutoffs", a.cutoffs},
                                 {"scale", 4.5},
                                 {"single_table", a.single()},
                                 {"dropout", rate},
                                 {"stream", kLastStream}},
                    .inputs = inputs,
                    .length = std::max(a.d, ids.type.shape.elements())});
      }
    };
    with("some of all", below({3, 5}, rng, a.cutoffs.back()));
    with("more than fit at once", below({2, 1100}, rng, a.cutoffs.back()));
    with("head only", below({1, 4}, rng, a.cutoffs[0]));
    with("last word", integers({1, 1}, {static_cast<int32_t>(a.cutoffs.back() - 1)}));
  }
}

void softmax_cases(OracleCases& cases, Rng& rng) {
  struct Sizes {
    int64_t N, D, V;
  };
  for (const auto& [N, D, V] :
       {Sizes{1, 1, 1}, {3, 5, 2}, {7, 16, 15}, {16, 17, 16}, {17, 7, 17}, {5, 33, 100}, {130, 64, 300}}) {
    for (const bool bias : {false, true}) {
      const std::vector<OracleInput> weights = {normal({N, D}, rng), normal({V, D}, rng, 0.5),
                                                bias ? normal({V}, rng) : absent()};
      const std::string sizes = text("[N ", N, ", D ", D, ", V ", V, bias ? "] bias" : "]");
      const auto loss = [&](const std::string& what, OracleInput targets,
                            const Json& settings = Json::object()) {
        std::vector<OracleInput> inputs = weights;
        inputs.push_back(std::move(targets));
        add(cases, {.name = text("softmax_loss ", sizes, what),
                    .op = "softmax_loss",
                    .settings = settings,
                    .inputs = inputs,
                    .length = std::max({N, D, V})});
      };
      loss("", below({N}, rng, V));
      loss(" some ignored", targets_with_gaps({N}, rng, V));
      loss(" all ignored", integers({N}, std::vector<int32_t>(static_cast<size_t>(N), -1)));
      loss(" in chunks", targets_with_gaps({N}, rng, V), {{"chunk_rows", 3}});
      add(cases, {.name = text("log_probabilities ", sizes),
                  .op = "log_probabilities",
                  .inputs = weights,
                  .length = D,
                  .seeded = {}});
    }
  }
  add(cases, {.name = "softmax_loss of [B, T, D]",
              .op = "softmax_loss",
              .inputs = {normal({3, 5, 9}, rng), normal({11, 9}, rng, 0.5), normal({11}, rng),
                         below({3, 5}, rng, 11)},
              .length = 15});
  // Logits of +-300: exponentials without the largest logit taken off would overflow.
  add(cases, {.name = "softmax_loss of large logits",
              .op = "softmax_loss",
              .inputs = {normal({6, 9}, rng, 10), normal({12, 9}, rng, 10), absent(), below({6}, rng, 12)},
              .length = 12,
              .conditioning = 100});  // a rounding of the logits is a relative error of the probabilities
  add(cases, {.name = "softmax_loss of no rows",
              .op = "softmax_loss",
              .inputs = {normal({0, 9}, rng), normal({12, 9}, rng), normal({12}, rng), integers({0}, {})}});
}

void mean_loss_cases(OracleCases& cases, Rng& rng) {
  for (const int64_t N : {0, 1, 2, 15, 16, 17, 1000}) {
    const auto mean = [&](const char* what, OracleInput targets) {
      add(cases, {.name = text("mean_loss of ", N, what),
                  .op = "mean_loss",
                  .inputs = {uniform({N}, rng, 0, 5), targets},
                  .length = N});
    };
    mean("", below({N}, rng, 9));
    mean(" some ignored", targets_with_gaps({N}, rng, 9));
    mean(" all ignored", integers({N}, std::vector<int32_t>(static_cast<size_t>(N), -1)));
  }
}

void adaptive_softmax_cases(OracleCases& cases, Rng& rng) {
  for (const Adaptive& a : adaptive_outputs()) {
    const int64_t V = a.cutoffs.back(), tails = static_cast<int64_t>(a.cutoffs.size()) - 1;
    for (const char* order : {"forward", "reverse"}) {
      const Json settings = {{"cutoffs", a.cutoffs},
                             {"order", order},
                             {"single_table", a.single()},
                             {"projection_of", a.projection_of}};
      const auto draw = [&](int64_t N, const std::vector<OracleInput>& targets) {
        std::vector<OracleInput> inputs = {normal({N, a.d}, rng)};
        inputs.insert(inputs.end(), targets.begin(), targets.end());
        inputs.push_back(normal({V}, rng));
        inputs.push_back(tails > 0 ? normal({tails, a.widths[0]}, rng, 0.5) : absent());
        inputs.push_back(tails > 0 ? normal({tails}, rng) : absent());
        const auto weights = tables_and_projections(a, rng);
        inputs.insert(inputs.end(), weights.begin(), weights.end());
        return inputs;
      };
      const auto with = [&](const std::string& op, const std::string& what, const Json& all_settings,
                            int64_t N, std::vector<OracleInput> inputs,
                            const std::vector<OracleInput>& state) {
        inputs.insert(inputs.end(), state.begin(), state.end());
        const bool loss = op == "adaptive_softmax_loss";
        add(cases, {.name = text(op, ", ", a.what, " ", order, what),
                    .op = op,
                    .settings = all_settings,
                    .inputs = inputs,
                    .length = std::max({V, a.d, N}),
                    .seeded = loss ? std::vector<size_t>{0} : std::vector<size_t>{}});
      };
      // With and without dropout from the same numbers.
      const auto loss = [&](const std::string& what, const OracleInput& targets, int64_t chunk_rows = 0) {
        const int64_t N = targets.type.shape.elements();
        const std::vector<OracleInput> inputs = draw(N, {targets});
        for (const auto& [dropping, rate, state] : droppings()) {
          Json more = settings;
          more.update({{"chunk_rows", chunk_rows}, {"dropout", rate}, {"stream", kLastStream}});
          with("adaptive_softmax_loss", what + dropping, more, N, inputs, {state});
        }
      };
      loss("", below({17}, rng, V));
      loss(", head only", below({5}, rng, a.cutoffs[0]));
      loss(", one target in the last cluster", integers({1}, {static_cast<int32_t>(V - 1)}));
      loss(", some ignored, in chunks", targets_with_gaps({19}, rng, V), 4);
      loss(", all ignored", integers({3}, {-1, -1, -5}));
      with("adaptive_log_probabilities", "", settings, 5, draw(5, {}), {});
    }
  }
}

}  // namespace

void add_vocabulary_cases(OracleCases& cases) {
  Rng rng(3);
  embedding_cases(cases, rng);
  adaptive_embedding_cases(cases, rng);
  softmax_cases(cases, rng);
  mean_loss_cases(cases, rng);
  adaptive_softmax_cases(cases, rng);
}

}  // namespace heed::test
