// Ops over a vocabulary against plain loops in double: embeddings, softmax losses, log-probabilities, plain
// and adaptive.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "heed/base/philox.h"
#include "heed/base/threads.h"
#include "heed/graph/count.h"
#include "heed/graph/program.h"
#include "heed/kernels/isa.h"
#include "heed/ops/adaptive_embedding.h"
#include "heed/ops/adaptive_softmax.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/embedding.h"
#include "heed/ops/ops.h"
#include "heed/ops/softmax_loss.h"
#include "heed/ops/softmax_part.h"
#include "tests/support/messages.h"
#include "tests/support/rounding.h"

namespace heed {
namespace {

using graph::Graph;
using graph::kNone;
using graph::ValueId;
using test::rounding_bound;
using Doubles = std::vector<double>;
using Ids = std::vector<int32_t>;

void check_close(const Tensor& actual, const Doubles& expected, double bound, const std::string& what) {
  test::expect_close(actual.floats(), expected, bound, what);
}

// A graph with named parameters and inputs that hold random numbers, in double beside the float they were
// rounded to.
class Case {
 public:
  explicit Case(uint64_t seed) : rng_(seed) {}

  ValueId parameter(const std::string& name, Shape shape) { return graph->parameter(name, shape); }
  ValueId ids(const std::string& name, Shape shape, Ids given) {
    ids_[name] = std::move(given);
    return graph->input(name, shape, DType::kI32);
  }
  void run() {
    graph->tidy();
    program.emplace(graph, variables);
    const auto fill = [&](const std::string& name, const Tensor& tensor) {
      Doubles& kept = values[name];
      for (float& f : tensor.floats()) kept.push_back(f = static_cast<float>(rng_.normal()));
    };
    for (const auto& [name, tensor] : variables.parameters->all()) fill(name, tensor);
    for (ValueId id : graph->of_role(graph::Role::kInput)) {
      const std::string& name = graph->value(id).name;
      if (ids_.contains(name)) {
        std::copy(ids_[name].begin(), ids_[name].end(), program->tensor(id).i32());
      } else {
        fill(name, program->tensor(id));
      }
    }
    program->run();
    program->run();  // the second finds memory full of old numbers
  }
  void output(ValueId id) { graph->mark_output(id); }
  void outputs(const std::map<ValueId, ValueId>& gradients) {
    for (const auto& [value, gradient] : gradients) output(gradient);
  }

  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  graph::Variables variables;
  std::optional<graph::Program> program;
  std::map<std::string, Doubles> values;

 private:
  Rng rng_;
  std::map<std::string, Ids> ids_;
};

Ids random_ids(int64_t count, int64_t V, uint64_t seed, double ignored = 0) {
  Rng rng(seed, 7);
  Ids ids;
  for (int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<int32_t>(rng.below(V));
    ids.push_back(rng.uniform() < ignored ? -1 - id : id);
  }
  return ids;
}

// Gradients of the losses where their mean over the targets that count is what is differentiated.
Doubles dlosses_of_mean(const Ids& targets) {
  double active = 0;
  for (int32_t target : targets) active += target >= 0;
  Doubles dlosses;
  for (int32_t target : targets) dlosses.push_back(target >= 0 ? 1 / active : 0);
  return dlosses;
}

// ---- the oracle
// ---------------------------------------------------------------------------------------------------

struct Reference {  // an adaptive softmax; one cluster without cluster rows is the plain one
  std::vector<int64_t> cutoffs;
  bool reverse = false, single_table = false;
  int64_t d = 0;
  std::vector<int64_t> widths = {};  // by table
  Doubles x = {}, bias = {}, cluster_weight = {}, cluster_bias = {};
  std::vector<Doubles> tables = {}, projections = {};  // an empty projection is none
  Doubles dlosses = {};

  Doubles losses = {}, dx = {}, dbias = {}, dcluster_weight = {}, dcluster_bias = {}, log_p = {};
  std::vector<Doubles> dtables = {}, dprojections = {};

  int64_t begin(size_t i) const { return i == 0 ? 0 : cutoffs[i - 1]; }
  size_t table(size_t i) const { return single_table ? 0 : i; }

  void run(const Ids& targets) {
    const size_t m = cutoffs.size();
    const auto N = static_cast<int64_t>(x.size()) / d, c1 = cutoffs[0], entries = static_cast<int64_t>(m) - 1;
    const int64_t V = cutoffs.back();
    bias.resize(static_cast<size_t>(V)), cluster_bias.resize(static_cast<size_t>(entries));
    losses.assign(static_cast<size_t>(N), 0), dx.assign(x.size(), 0), dbias.assign(bias.size(), 0);
    dcluster_weight.assign(cluster_weight.size(), 0), dcluster_bias.assign(cluster_bias.size(), 0);
    log_p.assign(static_cast<size_t>(N * V), 0);
    dtables.clear(), dprojections.clear();
    for (const Doubles& t : tables) dtables.emplace_back(t.size());
    for (const Doubles& p : projections) dprojections.emplace_back(p.size());
    for (int64_t n = 0; n < N; ++n) {
      Doubles cluster_log_p(m);
      const int64_t target = targets.empty() ? -1 : targets[static_cast<size_t>(n)];
      for (size_t i = 0; i < m; ++i) {
        const size_t t = table(i);
        const int64_t e = widths[t], l = begin(i), size = cutoffs[i] - l,
                      columns = size + (i == 0 ? entries : 0);
        const int64_t row = single_table ? l : 0;
        // Column j is a word of the cluster or, behind the head's words, an entry.
        const auto weight = [&](int64_t j) {
          return j < size ? &tables[t][size_t((row + j) * e)] : &cluster_weight[size_t((j - size) * e)];
        };
        Doubles hidden(size_t(e), 0.);
        for (int64_t k = 0; k < e; ++k) {
          if (projections[t].empty()) {
            hidden[size_t(k)] = x[size_t(n * d + k)];
          } else {
            for (int64_t j = 0; j < d; ++j)
              hidden[size_t(k)] += x[size_t(n * d + j)] * projections[t][size_t(j * e + k)];
          }
        }
        Doubles z(size_t(columns), 0.);
        double sum = 0;
        for (int64_t j = 0; j < columns; ++j) {
          z[size_t(j)] = j < size ? bias[size_t(l + j)] : cluster_bias[size_t(j - size)];
          for (int64_t k = 0; k < e; ++k) z[size_t(j)] += hidden[size_t(k)] * weight(j)[k];
          sum += std::exp(z[size_t(j)]);
        }
        const double log_sum = std::log(sum);
        for (int64_t j = 0; j < size; ++j)
          log_p[size_t(n * V + l + j)] = z[size_t(j)] - log_sum + cluster_log_p[i];
        if (i == 0) {
          for (size_t other = 1; other < m; ++other) {
            cluster_log_p[other] =
                z[size_t(reverse ? c1 + entries - int64_t(other) : c1 + int64_t(other) - 1)] - log_sum;
          }
        }
        // The gradient of this part, for a row whose target it has to predict.
        if (target < 0 || (i > 0 && (target < l || target >= cutoffs[i]))) continue;
        int64_t wanted = target - l;
        if (i == 0 && target >= c1) {
          const int64_t other = std::upper_bound(cutoffs.begin(), cutoffs.end(), target) - cutoffs.begin();
          wanted = reverse ? c1 + entries - other : c1 + other - 1;
        }
        losses[size_t(n)] += log_sum - z[size_t(wanted)];
        if (dlosses.empty()) continue;
        Doubles dhidden(size_t(e), 0.);
        for (int64_t j = 0; j < columns; ++j) {
          const double dz = (std::exp(z[size_t(j)] - log_sum) - (j == wanted)) * dlosses[size_t(n)];
          (j < size ? dbias[size_t(l + j)] : dcluster_bias[size_t(j - size)]) += dz;
          double* dweight =
              j < size ? &dtables[t][size_t((row + j) * e)] : &dcluster_weight[size_t((j - size) * e)];
          for (int64_t k = 0; k < e; ++k) {
            dweight[k] += dz * hidden[size_t(k)];
            dhidden[size_t(k)] += dz * weight(j)[k];
          }
        }
        for (int64_t j = 0; j < d; ++j) {
          for (int64_t k = 0; k < e; ++k) {
            if (projections[t].empty()) {
              if (j == k) dx[size_t(n * d + j)] += dhidden[size_t(k)];
            } else {
              dprojections[t][size_t(j * e + k)] += x[size_t(n * d + j)] * dhidden[size_t(k)];
              dx[size_t(n * d + j)] += projections[t][size_t(j * e + k)] * dhidden[size_t(k)];
            }
          }
        }
      }
    }
  }

  // y = scale * table_i[id - l_i] projection_i^T, and the gradients for dy.
  Doubles embed(const Ids& ids, double scale, const Doubles& dy) {
    Doubles y(ids.size() * size_t(d), 0.);
    dtables.resize(tables.size()), dprojections.resize(projections.size());
    for (size_t t = 0; t < tables.size(); ++t)
      dtables[t].resize(tables[t].size()), dprojections[t].resize(projections[t].size());
    for (size_t n = 0; n < ids.size(); ++n) {
      const auto i = size_t(std::upper_bound(cutoffs.begin(), cutoffs.end(), ids[n]) - cutoffs.begin());
      const size_t t = table(i);
      const int64_t e = widths[t], row = single_table ? ids[n] : ids[n] - begin(i);
      for (int64_t j = 0; j < d; ++j) {
        for (int64_t k = 0; k < e; ++k) {
          const size_t at = size_t(row * e + k), out = n * size_t(d) + size_t(j), p = size_t(j * e + k);
          if (projections[t].empty() && j != k) continue;
          const double factor = projections[t].empty() ? 1 : projections[t][p];
          y[out] += scale * tables[t][at] * factor;
          if (dy.empty()) continue;
          dtables[t][at] += scale * dy[out] * factor;
          if (!projections[t].empty()) dprojections[t][p] += scale * dy[out] * tables[t][at];
        }
      }
    }
    return y;
  }
};

// Runs a test with every instruction set the CPU has.
class Vocabulary : public ::testing::TestWithParam<kernels::Isa> {
 protected:
  void SetUp() override {
    if (!kernels::supported(GetParam())) GTEST_SKIP() << "this CPU lacks it";
    before_ = kernels::isa();
    kernels::force_isa(GetParam());
  }
  void TearDown() override {
    if (kernels::supported(GetParam())) kernels::force_isa(before_);
  }

 private:
  kernels::Isa before_{};
};
INSTANTIATE_TEST_SUITE_P(, Vocabulary, ::testing::Values(kernels::Isa::kV3, kernels::Isa::kV4),
                         [](const auto& each) { return each.param == kernels::Isa::kV3 ? "v3" : "v4"; });

// ---- embedding
// ----------------------------------------------------------------------------------------------------

TEST_P(Vocabulary, EmbeddingAndItsGradients) {
  for (int64_t V : {1, 7, 1000}) {
    for (int64_t D : {1, 15, 16, 17, 40}) {
      for (int64_t B : {1, 3}) {
        for (bool positions : {false, true}) {
          const int64_t T = 5, P = 9, first = 3;
          const double scale = 1.5;
          SCOPED_TRACE(text("V ", V, " D ", D, " B ", B, " positions ", positions));
          Case c(1);
          const Ids ids = random_ids(B * T, V, 3);
          const ValueId id = c.ids("ids", {B, T}, ids);
          const ValueId table = c.parameter("table", {V, D});
          const ValueId place = positions ? c.parameter("positions", {P, D}) : kNone;
          const ValueId start = positions ? c.ids("first", {1}, {first}) : kNone;
          const ValueId y = ops::embedding(*c.graph, id, table, place, start, {scale});
          const ValueId dy = c.graph->input("dy", {B, T, D});
          std::vector<ValueId> wrt = {table};
          if (positions) wrt.push_back(place);
          auto gradients = ops::gradients(*c.graph, std::map{std::pair{y, dy}}, wrt);
          c.output(y);
          c.outputs(gradients);
          c.run();
          Doubles ey(size_t(B * T * D)), edtable(size_t(V * D)), edplace(size_t(P * D));
          for (int64_t b = 0; b < B; ++b) {
            for (int64_t t = 0; t < T; ++t) {
              for (int64_t j = 0; j < D; ++j) {
                const size_t at = size_t((b * T + t) * D + j), word = size_t(ids[size_t(b * T + t)] * D + j);
                const size_t spot = size_t((first + t) * D + j);
                ey[at] = scale * c.values["table"][word] + (positions ? c.values["positions"][spot] : 0);
                edtable[word] += scale * c.values["dy"][at];
                edplace[spot] += c.values["dy"][at];
              }
            }
          }
          check_close(c.program->tensor(y), ey, rounding_bound(1), "y");
          check_close(c.program->tensor(gradients.at(table)), edtable, rounding_bound(B * T), "dtable");
          if (positions)
            check_close(c.program->tensor(gradients.at(place)), edplace, rounding_bound(B), "dpositions");
        }
      }
    }
  }
}

std::string error_of(Case& c) {
  return test::message_of([&] { c.run(); }, test::kAnyKind);
}

TEST(Embedding, RefusesIdsAndPositionsItDoesNotHave) {
  for (int32_t bad : {10, -1, INT32_MAX, INT32_MIN}) {
    Case c(1);
    c.output(ops::embedding(*c.graph, c.ids("ids", {1, 3}, {0, bad, 9}), c.parameter("table", {10, 4})));
    EXPECT_EQ(error_of(c),
              text("embedding: id ", bad, " at position 1 is not in the vocabulary of V = 10 words"));
  }
  for (int32_t first : {-1, 4, INT32_MAX}) {
    Case c(1);
    c.output(ops::embedding(*c.graph, c.ids("ids", {1, 3}, {0, 1, 9}), c.parameter("table", {10, 4}),
                            c.parameter("p", {6, 4}), c.ids("first", {1}, {first})));
    EXPECT_NE(error_of(c).find("table of positions has 6 rows"), std::string::npos);
  }
  for (int32_t bad : {10, -3}) {
    Case c(1);
    c.output(ops::adaptive_embedding(*c.graph, c.ids("ids", {1, 2}, {0, bad}),
                                     {c.parameter("a", {4, 4}), c.parameter("b", {6, 4})}, {}, {{4, 10}}));
    EXPECT_EQ(error_of(c), text("adaptive_embedding: id ", bad,
                                " at position 1 is not in the vocabulary of V = 10 words"));
  }
}

TEST(Embedding, RefusesShapesThatDoNotFit) {
  Graph g;
  const ValueId ids = g.input("ids", {2, 3}, DType::kI32), table = g.parameter("table", {10, 4}),
                x = g.input("x", {2, 4});
  const ValueId targets = g.input("targets", {2}, DType::kI32);
  EXPECT_THROW(ops::embedding(g, x, table), Error);
  EXPECT_THROW(ops::embedding(g, ids, table, g.parameter("short", {2, 4})), Error);
  EXPECT_THROW(ops::embedding(g, ids, table, kNone, targets), Error);
  EXPECT_THROW(ops::adaptive_embedding(g, ids, {table}, {}, {}), Error);
  EXPECT_THROW(ops::adaptive_embedding(g, ids, {table}, {}, {{4, 10}}), Error);
  EXPECT_THROW(ops::adaptive_embedding(g, ids, {table}, {}, {{10, 4}, 1, true}), Error);
  EXPECT_THROW(ops::softmax_loss(g, x, table, kNone, ids), Error);
  EXPECT_THROW(ops::softmax_loss(g, x, table, x, targets), Error);
  EXPECT_THROW(ops::softmax_loss(g, x, table, kNone, kNone), Error);
  EXPECT_THROW(ops::softmax_loss(g, x, table, kNone, targets, {-1}), Error);
  EXPECT_THROW(ops::mean_loss(g, x, targets), Error);
  EXPECT_THROW(ops::adaptive_softmax_loss(g, {.x = x, .tables = {table}}, targets,
                                          {.cutoffs = {4, 10}, .single_table = true}),
               Error);
  EXPECT_NO_THROW(ops::adaptive_softmax_loss(g, {.x = x, .tables = {table}}, targets, {.cutoffs = {10}}));
  const ValueId rng = g.input("rng", {4}, DType::kI32);
  for (const double bad : {-0.1, 1., std::nan("")}) {
    EXPECT_THROW(ops::adaptive_embedding(g, ids, {table}, {}, {.cutoffs = {10}, .dropout = bad}, rng), Error);
    EXPECT_THROW(ops::adaptive_softmax_loss(g, {.x = x, .tables = {table}, .rng = rng}, targets,
                                            {.cutoffs = {10}, .dropout = bad}),
                 Error);
  }
  for (const ValueId bad : {targets, x}) {
    EXPECT_THROW(ops::adaptive_embedding(g, ids, {table}, {}, {.cutoffs = {10}, .dropout = 0.1}, bad), Error);
    EXPECT_THROW(ops::adaptive_softmax_loss(g, {.x = x, .tables = {table}, .rng = bad}, targets,
                                            {.cutoffs = {10}, .dropout = 0.1}),
                 Error);
  }
}

// ---- softmax
// ------------------------------------------------------------------------------------------------------

TEST_P(Vocabulary, SoftmaxLossAndItsGradients) {
  for (int64_t V : {1, 7, 17, 64, 1000}) {
    for (int64_t D : {1, 15, 17}) {
      for (int64_t N : {1, 3, 130}) {
        for (double ignored : {0., 0.4, 1.}) {
          for (int64_t chunk : {0, 1, 7, 64}) {
            if (chunk == 1 && N > 3) continue;
            const bool biased = (V + D + N + chunk) % 2 == 0;
            SCOPED_TRACE(
                text("V ", V, " D ", D, " N ", N, " ignored ", ignored, " chunk ", chunk, " bias ", biased));
            Case c(2);
            const Ids targets = random_ids(N, V, 5, ignored);
            const ValueId x = c.parameter("x", {N, D}), w = c.parameter("w", {V, D});
            const ValueId bias = biased ? c.parameter("bias", {V}) : kNone,
                          t = c.ids("targets", {N}, targets);
            const ValueId losses = ops::softmax_loss(*c.graph, x, w, bias, t, {chunk});
            const ValueId p = ops::log_probabilities(*c.graph, x, w, bias);
            const ValueId dlosses = c.graph->input("dlosses", {N});
            std::vector<ValueId> wrt = {x, w};
            if (biased) wrt.push_back(bias);
            auto gradients = ops::gradients(*c.graph, std::map{std::pair{losses, dlosses}}, wrt);
            c.output(losses);  // the forward node stays
            c.output(p);
            c.outputs(gradients);
            c.run();
            Reference r{.cutoffs = {V},
                        .d = D,
                        .widths = {D},
                        .x = c.values["x"],
                        .bias = c.values["bias"],
                        .tables = {c.values["w"]},
                        .projections = {{}},
                        .dlosses = c.values["dlosses"]};
            r.run(targets);
            check_close(c.program->tensor(losses), r.losses, rounding_bound(D + V), "losses");
            check_close(c.program->tensor(p), r.log_p, rounding_bound(D + V), "log p");
            check_close(c.program->tensor(gradients.at(x)), r.dx, rounding_bound(D + V), "dx");
            check_close(c.program->tensor(gradients.at(w)), r.dtables[0], rounding_bound(D + N), "dw");
            if (biased)
              check_close(c.program->tensor(gradients.at(bias)), r.dbias, rounding_bound(D + N), "dbias");
          }
        }
      }
    }
  }
}

// Losses of a training step come from the gradient's node, and nothing computes the logits twice.
TEST(SoftmaxLoss, IsOneNodeInATrainingStep) {
  const int64_t N = 37, V = 50, D = 9;
  Case c(3);
  const Ids targets = random_ids(N, V, 6, 0.3);
  const ValueId x = c.parameter("x", {N, D}), w = c.parameter("w", {V, D}),
                t = c.ids("targets", {N}, targets);
  const ValueId losses = ops::softmax_loss(*c.graph, x, w, kNone, t);
  const ValueId mean = ops::mean_loss(*c.graph, losses, t);
  auto gradients = ops::gradients(*c.graph, mean, {x, w});
  c.output(mean);
  c.outputs(gradients);
  c.run();
  const auto count = graph::count(*c.graph);
  EXPECT_FALSE(count.by_kind.contains("softmax_loss"));
  EXPECT_EQ(count.total.flops, 6.0 * N * V * D);
  Reference r{.cutoffs = {V},
              .d = D,
              .widths = {D},
              .x = c.values["x"],
              .tables = {c.values["w"]},
              .projections = {{}}};
  double active = 0, total = 0;
  for (int32_t target : targets) active += target >= 0;
  r.dlosses = dlosses_of_mean(targets);
  r.run(targets);
  for (double loss : r.losses) total += loss;
  check_close(c.program->tensor(mean), {total / active}, rounding_bound(V), "mean");
  check_close(c.program->tensor(gradients.at(x)), r.dx, rounding_bound(D + V), "dx");
  check_close(c.program->tensor(gradients.at(w)), r.dtables[0], rounding_bound(D + N), "dw");
}

TEST(SoftmaxLoss, ChunksFitTheirMemory) {
  EXPECT_EQ(ops::softmax_chunk_rows(3, 1000, 0), 3);         // all of a few
  EXPECT_EQ(ops::softmax_chunk_rows(1024, 50257, 0), 208);   // five equal chunks of at most 48 MiB
  EXPECT_EQ(ops::softmax_chunk_rows(1024, 160000, 0), 128);  // good rows for more memory
  EXPECT_EQ(ops::softmax_chunk_rows(1024, 5000000, 0), 16);  // the least
  EXPECT_EQ(ops::softmax_chunk_rows(1024, 50257, 5), 5);     // as asked
  EXPECT_EQ(ops::softmax_chunk_rows(0, 50257, 0), 0);
}

TEST(SoftmaxLoss, AllIgnoredIsZero) {
  Case c(3);
  const ValueId x = c.parameter("x", {4, 3}), w = c.parameter("w", {5, 3}),
                t = c.ids("targets", {4}, {-1, -100, -1, -7});
  const ValueId mean = ops::mean_loss(*c.graph, ops::softmax_loss(*c.graph, x, w, kNone, t), t);
  auto gradients = ops::gradients(*c.graph, mean, {x, w});
  c.output(mean);
  c.outputs(gradients);
  c.run();
  check_close(c.program->tensor(mean), {0}, 0, "mean");
  check_close(c.program->tensor(gradients.at(x)), Doubles(12), 0, "dx");
  check_close(c.program->tensor(gradients.at(w)), Doubles(15), 0, "dw");
}

TEST(SoftmaxLoss, TiedTableGetsBothGradients) {
  for (int64_t V : {7, 300}) {
    const int64_t B = 3, T = 11, D = 17, N = B * T;
    Case c(4);
    const Ids ids = random_ids(N, V, 8), targets = random_ids(N, V, 9, 0.2);
    const ValueId table = c.parameter("table", {V, D}), t = c.ids("targets", {B, T}, targets);
    const ValueId x = ops::embedding(*c.graph, c.ids("ids", {B, T}, ids), table, kNone, kNone, {2});
    const ValueId losses = ops::softmax_loss(*c.graph, x, table, kNone, t);
    const ValueId mean = ops::mean_loss(*c.graph, losses, t);
    auto gradients = ops::gradients(*c.graph, mean, {table});
    c.output(mean);
    c.outputs(gradients);
    c.run();
    EXPECT_FALSE(
        graph::count(*c.graph).by_kind.contains("add"));  // the embedding's gradient is added in place
    Reference r{.cutoffs = {V}, .d = D, .widths = {D}, .tables = {c.values["table"]}, .projections = {{}}};
    r.x = r.embed(ids, 2, {});
    r.dlosses = dlosses_of_mean(targets);
    r.run(targets);
    r.embed(ids, 2, Doubles(r.dx));
    check_close(c.program->tensor(gradients.at(table)), r.dtables[0], rounding_bound(D + V + N), "dtable");
  }
}

TEST(SoftmaxLoss, RefusesTargetsItDoesNotHave) {
  for (bool gradient : {false, true}) {
    Case c(1);
    const ValueId x = c.parameter("x", {2, 4}), w = c.parameter("w", {10, 4}),
                  t = c.ids("targets", {2}, {9, 10});
    const ValueId mean = ops::mean_loss(*c.graph, ops::softmax_loss(*c.graph, x, w, kNone, t), t);
    if (gradient) c.outputs(ops::gradients(*c.graph, mean, {x}));
    c.output(mean);
    EXPECT_EQ(error_of(c), text("softmax_loss", gradient ? "_gradient" : "",
                                ": target 10 at position 1 is not in the vocabulary of V = 10 words"));
  }
  Case c(1);
  const ValueId x = c.parameter("x", {2, 4}), w = c.parameter("w", {10, 4}),
                t = c.ids("targets", {2}, {9, 10});
  c.output(ops::adaptive_softmax_loss(*c.graph,
                                      {.x = x, .cluster_weight = c.parameter("cw", {1, 4}), .tables = {w}}, t,
                                      {.cutoffs = {4, 10}, .single_table = true}));
  EXPECT_EQ(error_of(c),
            "adaptive_softmax_loss: target 10 at position 1 is not in the vocabulary of V = 10 words");
}

TEST_P(Vocabulary, SoftmaxLossBearsLargeLogits) {
  const int64_t N = 3, V = 40, D = 2;
  auto g = std::make_shared<Graph>();
  const ValueId x = g->parameter("x", {N, D}), w = g->parameter("w", {V, D}),
                t = g->input("targets", {N}, DType::kI32);
  const ValueId losses = ops::softmax_loss(*g, x, w, kNone, t);
  auto gradients = ops::gradients(*g, ops::mean_loss(*g, losses, t), {x, w});
  g->mark_output(losses);
  for (auto& [value, gradient] : gradients) g->mark_output(gradient);
  graph::Variables variables;
  graph::Program program(g, variables);
  for (int64_t v = 0; v < V; ++v) variables.parameters->at("w").f32()[v * D] = static_cast<float>(v);
  for (int64_t n = 0; n < N; ++n)
    variables.parameters->at("x").f32()[n * D] = static_cast<float>(n - 1) * 1000;
  program.run();  // targets are 0: the least likely, equal to all, the most likely
  check_close(program.tensor(losses), {0, std::log(40.), 39000}, rounding_bound(1), "losses");
  for (float f : program.tensor(gradients.at(w)).floats()) EXPECT_TRUE(std::isfinite(f));
  for (float f : program.tensor(gradients.at(w)).floats()) EXPECT_TRUE(f == 0 || std::isnormal(f));
}

TEST(SoftmaxLoss, NotANumberIsNotHidden) {
  auto g = std::make_shared<Graph>();
  const ValueId x = g->parameter("x", {1, 1}), w = g->parameter("w", {50, 1}),
                t = g->input("targets", {1}, DType::kI32);
  const ValueId losses = ops::softmax_loss(*g, x, w, kNone, t);
  g->mark_output(losses);
  graph::Variables variables;
  graph::Program program(g, variables);
  variables.parameters->at("x").f32()[0] = 1;
  for (int v : {3, 33, 49}) {
    variables.parameters->at("w").f32()[v] = NAN;
    program.run();
    EXPECT_TRUE(std::isnan(program.tensor(losses).f32()[0]));
    variables.parameters->at("w").f32()[v] = 0;
  }
}

// ---- adaptive
// -----------------------------------------------------------------------------------------------------

struct Adaptive {
  std::vector<int64_t> cutoffs;
  int64_t d;
  std::vector<int64_t> widths;  // by table
  std::vector<bool> projected;  // by table
  bool single_table = false, reverse = false, biased = true;
};

const Adaptive kAdaptive[] = {
    {{17}, 15, {15}, {false}},                                                    // a plain softmax
    {{17}, 15, {4}, {true}},                                                      // with a projection
    {{5, 12, 40}, 17, {17, 17, 17}, {false, false, false}},                       // nothing to project
    {{1, 2, 3, 4}, 3, {3, 2, 1, 1}, {true, true, true, true}},                    // clusters of one word
    {{30, 100, 1000}, 16, {16, 4, 1}, {true, true, true}, false, true},           // as Transformer-XL Large
    {{30, 100, 1000}, 16, {16, 4, 1}, {false, true, true}, false, false, false},  // no biases
    {{7, 20, 64, 90}, 9, {9}, {false}, true},                                     // as Transformer-XL Base
    {{7, 20, 64, 90}, 9, {5}, {true}, true, true},  // narrow, one projection for all
};

std::string name_of(const Adaptive& a) {
  std::string cutoffs;
  for (int64_t c : a.cutoffs) cutoffs += text(c, " ");
  return text("cutoffs ", cutoffs, "d ", a.d, a.single_table ? " single" : "", a.reverse ? " reverse" : "");
}

struct AdaptiveValues {
  std::vector<ValueId> tables, projections;
  ValueId bias = kNone, cluster_weight = kNone, cluster_bias = kNone;

  AdaptiveValues(Case& c, const Adaptive& a, bool softmax) {
    for (size_t i = 0; i < a.widths.size(); ++i) {
      const int64_t size = a.single_table ? a.cutoffs.back()
                           : i == 0       ? a.cutoffs[0]
                                          : a.cutoffs[i] - a.cutoffs[i - 1];
      tables.push_back(c.parameter(text("table", i), {size, a.widths[i]}));
      projections.push_back(a.projected[i] ? c.parameter(text("projection", i), {a.d, a.widths[i]}) : kNone);
    }
    const auto entries = static_cast<int64_t>(a.cutoffs.size()) - 1;
    if (!softmax) return;
    if (a.biased) bias = c.parameter("bias", {a.cutoffs.back()});
    if (entries > 0) cluster_weight = c.parameter("cluster_weight", {entries, a.widths[0]});
    if (entries > 0 && a.biased) cluster_bias = c.parameter("cluster_bias", {entries});
  }
  std::vector<ValueId> all() const {
    std::vector<ValueId> present;
    for (const auto& list : {tables, projections, {bias, cluster_weight, cluster_bias}}) {
      for (ValueId id : list) {
        if (id) present.push_back(id);
      }
    }
    return present;
  }
};

Reference reference_of(Case& c, const Adaptive& a) {
  Reference r{.cutoffs = a.cutoffs,
              .reverse = a.reverse,
              .single_table = a.single_table,
              .d = a.d,
              .widths = a.widths};
  r.x = c.values["x"], r.bias = c.values["bias"], r.cluster_weight = c.values["cluster_weight"],
  r.cluster_bias = c.values["cluster_bias"];
  for (size_t i = 0; i < a.widths.size(); ++i) {
    r.tables.push_back(c.values[text("table", i)]);
    r.projections.push_back(c.values[text("projection", i)]);
  }
  r.dlosses = c.values["dlosses"];
  return r;
}

void check_tables(Case& c, const AdaptiveValues& v, const std::map<ValueId, ValueId>& gradients,
                  const Reference& r, double bound) {
  for (size_t i = 0; i < v.tables.size(); ++i) {
    check_close(c.program->tensor(gradients.at(v.tables[i])), r.dtables[i], bound, text("dtable ", i));
    if (v.projections[i])
      check_close(c.program->tensor(gradients.at(v.projections[i])), r.dprojections[i], bound,
                  text("dprojection ", i));
  }
}

TEST_P(Vocabulary, AdaptiveEmbeddingAndItsGradients) {
  for (const Adaptive& a : kAdaptive) {
    for (int64_t B : {1, 3}) {
      for (int64_t T : {1, 43, 700}) {  // the last makes more than one group of rows
        SCOPED_TRACE(text(name_of(a), " B ", B, " T ", T));
        Case c(5);
        const AdaptiveValues v(c, a, false);
        const Ids ids = random_ids(B * T, a.cutoffs.back(), 11);
        const ValueId y = ops::adaptive_embedding(*c.graph, c.ids("ids", {B, T}, ids), v.tables,
                                                  v.projections, {a.cutoffs, 1.25, a.single_table});
        const ValueId dy = c.graph->input("dy", {B, T, a.d});
        auto gradients = ops::gradients(*c.graph, std::map{std::pair{y, dy}}, v.all());
        c.output(y);
        c.outputs(gradients);
        c.run();
        Reference r = reference_of(c, a);
        check_close(c.program->tensor(y), r.embed(ids, 1.25, c.values["dy"]), rounding_bound(a.d), "y");
        check_tables(c, v, gradients, r, rounding_bound(a.d + B * T));
      }
    }
  }
}

TEST_P(Vocabulary, AdaptiveSoftmaxLossAndItsGradients) {
  for (const Adaptive& a : kAdaptive) {
    for (int64_t N : {1, 3, 130}) {
      for (double ignored : {0., 0.4, 1.}) {
        for (int64_t chunk : {0, 7}) {
          SCOPED_TRACE(text(name_of(a), " N ", N, " ignored ", ignored, " chunk ", chunk));
          Case c(6);
          const AdaptiveValues v(c, a, true);
          const ops::AdaptiveSoftmaxSettings settings{
              a.cutoffs, a.reverse ? ClusterOrder::kReverse : ClusterOrder::kForward, a.single_table, chunk};
          const Ids targets = random_ids(N, a.cutoffs.back(), 12, ignored);
          const ValueId x = c.parameter("x", {N, a.d}), t = c.ids("targets", {N}, targets);
          const ops::AdaptiveSoftmaxInputs in{x,        v.bias,       v.cluster_weight, v.cluster_bias,
                                              v.tables, v.projections};
          const ValueId losses = ops::adaptive_softmax_loss(*c.graph, in, t, settings);
          const ValueId p = ops::adaptive_log_probabilities(*c.graph, in, settings);
          std::vector<ValueId> wrt = v.all();
          wrt.push_back(x);
          auto gradients =
              ops::gradients(*c.graph, std::map{std::pair{losses, c.graph->input("dlosses", {N})}}, wrt);
          c.output(losses);
          c.output(p);
          c.outputs(gradients);
          c.run();
          Reference r = reference_of(c, a);
          r.run(targets);
          const int64_t V = a.cutoffs.back();
          const auto loss = c.program->tensor(losses).floats(), log_p = c.program->tensor(p).floats();
          check_close(c.program->tensor(losses), r.losses, rounding_bound(a.d + V), "losses");
          check_close(c.program->tensor(p), r.log_p, rounding_bound(a.d + V), "log p");
          // An error of a logarithm is one of the probability, relative to it.
          const double allowed =
              rounding_bound(a.d + V) * std::abs(*std::min_element(r.log_p.begin(), r.log_p.end()));
          for (int64_t n = 0; n < N; ++n) {
            double sum = 0;
            for (int64_t j = 0; j < V; ++j) sum += std::exp(static_cast<double>(log_p[size_t(n * V + j)]));
            EXPECT_NEAR(sum, 1, allowed);
            const int32_t target = targets[size_t(n)];
            EXPECT_NEAR(loss[size_t(n)], target < 0 ? 0 : -log_p[size_t(n * V + target)], 2 * allowed);
          }
          const double bound = rounding_bound(2 * a.d + V + N);
          check_close(c.program->tensor(gradients.at(x)), r.dx, bound, "dx");
          check_tables(c, v, gradients, r, bound);
          if (v.bias) check_close(c.program->tensor(gradients.at(v.bias)), r.dbias, bound, "dbias");
          if (v.cluster_weight)
            check_close(c.program->tensor(gradients.at(v.cluster_weight)), r.dcluster_weight, bound,
                        "dcluster_weight");
          if (v.cluster_bias)
            check_close(c.program->tensor(gradients.at(v.cluster_bias)), r.dcluster_bias, bound,
                        "dcluster_bias");
        }
      }
    }
  }
}

// Ids and targets in some clusters only: the tables of the others get gradients of 0, not what their memory
// held.
TEST(AdaptiveSoftmax, EmptyClustersAndTiedTables) {
  for (const Adaptive& a : kAdaptive) {
    for (int64_t limit : {a.cutoffs[0], a.cutoffs.back()}) {
      SCOPED_TRACE(text(name_of(a), " ids below ", limit));
      const int64_t B = 2, T = 20, N = B * T;
      Case c(7);
      const AdaptiveValues v(c, a, true);
      const Ids ids = random_ids(N, limit, 13), targets = random_ids(N, limit, 14, 0.1);
      const ValueId t = c.ids("targets", {B, T}, targets);
      const ValueId x = ops::adaptive_embedding(*c.graph, c.ids("ids", {B, T}, ids), v.tables, v.projections,
                                                {a.cutoffs, 0.5, a.single_table});
      const ValueId losses = ops::adaptive_softmax_loss(
          *c.graph, {x, v.bias, v.cluster_weight, v.cluster_bias, v.tables, v.projections}, t,
          {a.cutoffs, a.reverse ? ClusterOrder::kReverse : ClusterOrder::kForward, a.single_table});
      const ValueId mean = ops::mean_loss(*c.graph, losses, t);
      auto gradients = ops::gradients(*c.graph, mean, v.all());
      c.output(mean);
      c.outputs(gradients);
      c.run();
      const auto count = graph::count(*c.graph);
      EXPECT_FALSE(count.by_kind.contains("adaptive_softmax_loss"));
      EXPECT_FALSE(count.by_kind.contains("add"));
      Reference r = reference_of(c, a);
      r.x = r.embed(ids, 0.5, {});
      r.dlosses = dlosses_of_mean(targets);
      r.run(targets);
      r.embed(ids, 0.5, Doubles(r.dx));
      check_tables(c, v, gradients, r, rounding_bound(2 * a.d + a.cutoffs.back() + N));
    }
  }
}

// One projection in two places: its gradient is the sum, in one memory or two.
TEST(AdaptiveSoftmax, SharedProjection) {
  const int64_t N = 33, d = 6;
  Case c(8);
  const Adaptive a{{5, 12, 40}, d, {3, 3, 3}, {true, true, true}};
  const Ids ids = random_ids(N, 40, 15), targets = random_ids(N, 40, 16);
  AdaptiveValues v(c, {{5, 12, 40}, d, {3, 3, 3}, {true, false, true}}, true);
  v.projections[1] = v.projections[0];
  const ValueId t = c.ids("targets", {N}, targets);
  const ValueId x =
      ops::adaptive_embedding(*c.graph, c.ids("ids", {N}, ids), v.tables, v.projections, {a.cutoffs});
  const ValueId losses = ops::adaptive_softmax_loss(
      *c.graph, {x, v.bias, v.cluster_weight, v.cluster_bias, v.tables, v.projections}, t, {a.cutoffs});
  auto gradients =
      ops::gradients(*c.graph, std::map{std::pair{losses, c.graph->input("dlosses", {N})}}, v.all());
  c.outputs(gradients);
  c.run();
  c.values["projection1"] = c.values["projection0"];
  Reference r = reference_of(c, a);
  r.x = r.embed(ids, 1, {});
  r.run(targets);
  r.embed(ids, 1, Doubles(r.dx));
  for (size_t i = 0; i < r.dprojections[0].size(); ++i) r.dprojections[0][i] += r.dprojections[1][i];
  r.dprojections[1] = r.dprojections[0];
  check_tables(c, v, gradients, r, rounding_bound(2 * d + 40 + N));
}

// Only what is asked for is computed.
TEST(AdaptiveSoftmax, PartOfTheGradients) {
  const int64_t N = 20;
  for (const Adaptive& a : kAdaptive) {
    for (bool only_x : {true, false}) {
      SCOPED_TRACE(text(name_of(a), only_x ? " x" : " projections or biases"));
      Case c(9);
      const AdaptiveValues v(c, a, true);
      const Ids targets = random_ids(N, a.cutoffs.back(), 17, 0.1);
      const ValueId x = c.parameter("x", {N, a.d});
      const ValueId losses = ops::adaptive_softmax_loss(
          *c.graph, {x, v.bias, v.cluster_weight, v.cluster_bias, v.tables, v.projections},
          c.ids("targets", {N}, targets),
          {a.cutoffs, a.reverse ? ClusterOrder::kReverse : ClusterOrder::kForward, a.single_table});
      const ValueId wanted = only_x ? x : v.projections.back() ? v.projections.back() : v.bias;
      auto gradients =
          ops::gradients(*c.graph, std::map{std::pair{losses, c.graph->input("dlosses", {N})}}, {wanted});
      c.outputs(gradients);
      c.run();
      Reference r = reference_of(c, a);
      r.run(targets);
      check_close(c.program->tensor(gradients.at(wanted)),
                  only_x                 ? r.dx
                  : v.projections.back() ? r.dprojections.back()
                                         : r.dbias,
                  rounding_bound(2 * a.d + a.cutoffs.back() + N), "the gradient");
    }
  }
}

// The number of threads moves rounding in products, nothing else; sizes large enough to wake all of them.
TEST(AdaptiveSoftmax, AnyNumberOfThreads) {
  const int before = thread_count();
  const int64_t N = 200, d = 48;
  const Adaptive a{{400, 900, 3000}, d, {48, 24, 12}, {true, true, true}};
  const Ids ids = random_ids(N, 3000, 18), targets = random_ids(N, 3000, 19, 0.1);
  std::vector<Doubles> first;
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Case c(10);
    AdaptiveValues v(c, a, true);
    const ValueId plain = c.parameter("plain", {2000, d}), t = c.ids("targets", {N}, targets);
    const ValueId words = c.ids("words", {N}, random_ids(N, 2000, 20)), id = c.ids("ids", {N}, ids);
    const ValueId x =
        ops::add(*c.graph, ops::adaptive_embedding(*c.graph, id, v.tables, v.projections, {a.cutoffs}),
                 ops::embedding(*c.graph, words, plain));
    const ValueId adaptive = ops::adaptive_softmax_loss(
        *c.graph, {x, v.bias, v.cluster_weight, v.cluster_bias, v.tables, v.projections}, t, {a.cutoffs});
    const ValueId loss =
        ops::add(*c.graph, ops::mean_loss(*c.graph, adaptive, t),
                 ops::mean_loss(*c.graph, ops::softmax_loss(*c.graph, x, plain, kNone, words), words));
    std::vector<ValueId> wrt = v.all();
    wrt.push_back(plain);
    auto gradients = ops::gradients(*c.graph, loss, wrt);
    c.output(loss);
    c.outputs(gradients);
    c.run();
    std::vector<ValueId> results = {loss};
    for (ValueId id_of : wrt) results.push_back(gradients.at(id_of));
    for (size_t i = 0; i < results.size(); ++i) {
      const auto values = c.program->tensor(results[i]).floats();
      if (threads == 1) {
        first.emplace_back(values.begin(), values.end());
      } else {
        check_close(c.program->tensor(results[i]), first[i], rounding_bound(64),
                    text("result ", i, " with ", threads, " threads"));
      }
    }
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace heed
