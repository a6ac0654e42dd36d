#include "heed/ops/adaptive_softmax.h"

#include <cmath>

#include "heed/kernels/embedding.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/matrix.h"
#include "heed/ops/softmax_part.h"

namespace heed::ops {
namespace {

// Places of the inputs. Those of adaptive_log_probabilities lack the targets: `shift` is 1 less there.
constexpr size_t kX = 0, kTargets = 1;
struct Places {
  size_t tables;  // how many
  size_t shift = 0;
  size_t bias() const { return 2 - shift; }
  size_t cluster_weight() const { return 3 - shift; }
  size_t cluster_bias() const { return 4 - shift; }
  size_t table(size_t i) const { return 5 - shift + i; }
  size_t projection(size_t i) const { return table(tables + i); }
  size_t count() const { return table(2 * tables); }  // without rng
  // Only for the loss.
  size_t rng() const { return count(); }
  // Only for the gradient.
  size_t dlosses() const { return count(); }
  size_t so_far(size_t i) const { return count() + 1 + i; }  // tables, then projections
  size_t gradient_rng() const { return so_far(2 * tables); }
};
// Its outputs.
constexpr size_t kLosses = 0, kDx = 1, kDBias = 2, kDClusterWeight = 3, kDClusterBias = 4, kDTables = 5;

template <class Settings>
Clusters clusters_of(const Settings& settings) {
  return {settings.cutoffs, settings.single_table};
}

int64_t entry_of(Clusters clusters, ClusterOrder order, size_t cluster) {
  const int64_t shortlist = clusters.size(0), entries = static_cast<int64_t>(clusters.count()) - 1;
  const int64_t i = static_cast<int64_t>(cluster);
  return order == ClusterOrder::kForward ? shortlist + i - 1 : shortlist + entries - i;
}

// What loss, gradient and log-probabilities ask of their inputs.
void expect_adaptive(const Signature& s, Clusters clusters, Places at) {
  expect_ascending(clusters.cutoffs);
  const int64_t d = expect_clusters(s, at.table(0), clusters);
  expect(s.has(kX), "x (input 0) is missing");
  expect_dtype(s, kX, DType::kF32, "x");
  expect(s.in(kX).rank() >= 1 && s.in(kX).dim(-1) == d,
         text("x ", s.in(kX).str(), " needs the tables' width ", d));
  const int64_t entries = static_cast<int64_t>(clusters.count()) - 1;
  const auto optional = [&](size_t input, const Shape& shape, const char* meaning) {
    if (!s.has(input)) return;
    expect_dtype(s, input, DType::kF32, meaning);
    expect_shape(s, input, shape, meaning);
  };
  expect(entries == 0 || s.has(at.cluster_weight()),
         text(entries + 1, " clusters need a cluster_weight (input ", at.cluster_weight(), ")"));
  optional(at.bias(), {clusters.vocabulary()}, "bias");
  optional(at.cluster_weight(), {entries, s.in(at.table(0)).dim(1)}, "cluster_weight");
  optional(at.cluster_bias(), {entries}, "cluster_bias");
}

template <class Settings>
void expect_loss(const Signature& s, Clusters clusters, Places at, size_t rng, const Settings& settings) {
  expect_input_count(s, rng + 1);
  expect_adaptive(s, clusters, at);
  expect_chunk_rows(settings.chunk_rows);
  expect_cluster_dropout(s, rng, settings.dropout);
  const int64_t N = s.in(kX).rows();
  expect(s.has(kTargets), "targets (input 1) are missing");
  expect_dtype(s, kTargets, DType::kI32, "targets");
  expect(s.in(kTargets).elements() == N,
         text("targets (input 1) need ", N, " elements, they are ", s.in(kTargets).str()));
}

double head_flops(const Signature& s, Clusters clusters, Places at) {
  const int64_t columns = clusters.size(0) + static_cast<int64_t>(clusters.count()) - 1,
                e = s.in(at.table(0)).dim(1);
  const int64_t projection = s.has(at.projection(0)) ? s.in(at.projection(0)).elements() : 0;
  return 2.0 * static_cast<double>(s.in(kX).rows()) * static_cast<double>(columns * e + projection);
}

struct Scratch {
  SoftmaxScratch part;
  Groups groups{};
  int32_t* active;   // room for active_rows
  float* head_bias;  // [shortlist + entries]: the head's biases come from two tensors
  float* head_dbias;

  // shape(i): of input i; has(i): whether it is given
  template <class ShapeOf, class Has>
  Scratch(Carver& carver, Clusters clusters, Places at, bool gradient, int64_t chunk_rows,
          const ShapeOf& shape, const Has& has) {
    const int64_t N = shape(kX).rows();
    for (size_t i = 0; i < clusters.count(); ++i)
      part.include(size_of(i, clusters, at, gradient, chunk_rows, shape, has));
    part.carve(carver);
    groups = Groups::carve(carver, N, clusters);
    active = carver.take<int32_t>(2 * N);
    const int64_t columns = clusters.size(0) + static_cast<int64_t>(clusters.count()) - 1;
    head_bias = carver.take<float>(columns);
    head_dbias = carver.take<float>(gradient ? columns : 0);
  }

  template <class ShapeOf, class Has>
  static SoftmaxPartSize size_of(size_t i, Clusters clusters, Places at, bool gradient, int64_t chunk_rows,
                                 const ShapeOf& shape, const Has& has) {
    const int64_t columns = clusters.size(i) + (i == 0 ? static_cast<int64_t>(clusters.count()) - 1 : 0);
    const size_t table = clusters.table(i);
    return {columns,
            shape(kX).dim(-1),
            shape(at.table(table)).dim(1),
            has(at.projection(table)),
            gradient,
            softmax_chunk_rows(shape(kX).rows(), columns, chunk_rows)};
  }
};

int64_t scratch_size(const Signature& s, Clusters clusters, bool gradient, int64_t chunk_rows) {
  Carver carver;
  Scratch(
      carver, clusters, Places{clusters.tables()}, gradient, chunk_rows,
      [&](size_t i) -> const Shape& { return s.in(i); }, [&](size_t i) { return s.has(i); });
  return carver.bytes();
}

// Loss and, with GradientSettings, gradient: the head for all rows that count, then each tail for those whose
// target it holds.
template <bool gradient, class Settings>
void run_adaptive(const Run& r, const Settings& settings, const char* op) {
  const Clusters clusters = clusters_of(settings);
  const Places at{clusters.tables()};
  const auto shape = [&](size_t i) -> const Shape& { return r.in(i).shape(); };
  const auto has = [&](size_t i) { return r.has(i); };
  const auto targets = r.in(kTargets).ints();
  check_ids(op, "target", targets, clusters.vocabulary(), Negative::kIgnored);
  Carver carver(r.scratch.data);
  const Scratch scratch(carver, clusters, at, gradient, settings.chunk_rows, shape, has);
  scratch.groups.fill(targets, clusters);
  const int64_t shortlist = clusters.size(0), entries = static_cast<int64_t>(clusters.count()) - 1;
  const ClusterDropout dropout = cluster_dropout(settings, r, gradient ? at.gradient_rng() : at.rng());

  // The head's target of a word outside the shortlist is the entry of its cluster.
  const ActiveRows active = active_rows(targets, scratch.active);
  int32_t* const head_targets = scratch.active + targets.size();
  for (int64_t n = 0; n < active.count; ++n) {
    const size_t cluster = clusters.of(head_targets[n]);
    if (cluster > 0) head_targets[n] = static_cast<int32_t>(entry_of(clusters, settings.order, cluster));
  }

  const float* const bias = r.in_or_null(at.bias());
  const float* const cluster_bias = r.in_or_null(at.cluster_bias());
  if (bias || cluster_bias) {
    std::fill_n(scratch.head_bias, shortlist + entries, 0.f);
    if (bias) std::copy_n(bias, shortlist, scratch.head_bias);
    if (cluster_bias) std::copy_n(cluster_bias, entries, scratch.head_bias + shortlist);
  }

  // What is wanted and given is cleared, or goes on from the sum so far.
  const auto wanted = [&](size_t output) -> float* {
    return r.out(output).shape().elements() > 0 ? r.out(output).f32() : nullptr;
  };
  const auto cleared = [&](size_t output) {
    float* const y = wanted(output);
    if (y) kernels::clear({r.out(output).shape().elements(), y});
    return y;
  };
  float* const losses = cleared(kLosses);
  float *dx = nullptr, *dbias = nullptr, *dcluster_weight = nullptr, *dcluster_bias = nullptr;
  if constexpr (gradient) {
    dx = active.index ? cleared(kDx) : wanted(kDx);
    dbias = cleared(kDBias);
    dcluster_weight = cleared(kDClusterWeight);
    dcluster_bias = cleared(kDClusterBias);
    for (size_t i = 0; i < at.tables; ++i) {
      if (!r.has(at.so_far(at.tables + i))) cleared(kDTables + at.tables + i);
    }
    if (dbias || dcluster_bias) std::fill_n(scratch.head_dbias, shortlist + entries, 0.f);
  }

  for (size_t i = 0; i < clusters.count(); ++i) {
    const size_t table = clusters.table(i);
    SoftmaxPart part{.size = Scratch::size_of(i, clusters, at, gradient, settings.chunk_rows, shape, has)};
    const int64_t table_begin = clusters.table_row(i) * part.size.inner;
    part.x = r.in(kX).f32();
    part.projection = r.in_or_null(at.projection(table));
    part.dropout = dropout.of(i);
    part.weight = r.in(at.table(table)).f32() + table_begin;
    part.losses = losses;
    if (i == 0) {
      part.rows = active.count, part.index = active.index, part.targets = active.targets;
      part.entry_count = entries, part.entries = r.in_or_null(at.cluster_weight());
      part.bias = bias || cluster_bias ? scratch.head_bias : nullptr;
    } else {
      const int64_t begin = scratch.groups.begin[i];
      part.rows = scratch.groups.count(i), part.index = scratch.groups.rows + begin,
      part.targets = scratch.groups.ids + begin;
      part.bias = bias ? bias + clusters.begin(i) : nullptr;
    }
    if constexpr (gradient) {
      part.dlosses = r.in(at.dlosses()).f32();
      part.dx = dx;
      part.overwrite_dx = i == 0 && !active.index;
      part.dweight = wanted(kDTables + table);
      if (part.dweight) part.dweight += table_begin;
      part.add_to_weight = r.has(at.so_far(table));
      part.dprojection = wanted(kDTables + at.tables + table);
      if (i == 0) {
        part.dentries = dcluster_weight;
        part.dbias = dbias || dcluster_bias ? scratch.head_dbias : nullptr;
      } else {
        part.dbias = dbias ? dbias + clusters.begin(i) : nullptr;
      }
    }
    run_softmax_part(part, scratch.part);
  }
  if (dbias) std::copy_n(scratch.head_dbias, shortlist, dbias);
  if (dcluster_bias) std::copy_n(scratch.head_dbias + shortlist, entries, dcluster_bias);
}

std::vector<ValueId> flatten(const AdaptiveSoftmaxInputs& in, ValueId targets) {
  std::vector<ValueId> all = {in.x};
  if (targets) all.push_back(targets);
  all.insert(all.end(), {in.bias, in.cluster_weight, in.cluster_bias});
  all.insert(all.end(), in.tables.begin(), in.tables.end());
  all.insert(all.end(), in.projections.begin(), in.projections.end());
  if (in.projections.empty()) all.resize(all.size() + in.tables.size(), kNone);
  if (targets) all.push_back(in.rng);
  return all;
}

}  // namespace

ValueId adaptive_softmax_loss(Graph& graph, const AdaptiveSoftmaxInputs& inputs, ValueId targets,
                              AdaptiveSoftmaxSettings settings) {
  expect(bool(targets), "adaptive_softmax_loss: targets must be given");
  return graph.add_one(make<AdaptiveSoftmaxLoss>(std::move(settings)), flatten(inputs, targets));
}

std::vector<TensorType> AdaptiveSoftmaxLoss::infer(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const Places at{clusters.tables()};
  expect_loss(s, clusters, at, at.rng(), settings_);
  return {{{s.in(kX).rows()}}};
}

Cost AdaptiveSoftmaxLoss::cost(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  return {head_flops(s, clusters, Places{clusters.tables()}), static_cast<double>(s.bytes())};
}

int64_t AdaptiveSoftmaxLoss::scratch_bytes(const Signature& s) const {
  return scratch_size(s, clusters_of(settings_), false, settings_.chunk_rows);
}

void AdaptiveSoftmaxLoss::run(const Run& r) const { run_adaptive<false>(r, settings_, kKind); }

void AdaptiveSoftmaxLoss::gradient(Gradients& g) const {
  const Places at{clusters_of(settings_).tables()};
  const AdaptiveSoftmaxGradientSettings settings{
      settings_.cutoffs,
      settings_.order,
      settings_.single_table,
      settings_.chunk_rows,
      settings_.dropout,
      settings_.stream,
      g.wants(kX),
      g.wants(at.bias()) || g.wants(at.cluster_bias()),
      wants_any(g, at.table(0), at.tables) || g.wants(at.cluster_weight()),
      wants_any(g, at.projection(0), at.tables)};
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < at.count(); ++i) inputs.push_back(g.saved(g.input(i)));
  inputs.push_back(g.output_gradient(0));
  const auto so_far = sums_so_far(g, at.table(0), 2 * at.tables);
  inputs.insert(inputs.end(), so_far.begin(), so_far.end());
  inputs.push_back(g.input(at.rng()));
  const auto outputs = g.graph().add(make<AdaptiveSoftmaxLossGradient>(settings), std::move(inputs));
  g.instead_of_output(0, outputs[kLosses]);
  set_sums(g, at.table(0), std::span(outputs).subspan(kDTables));
  if (g.wants(kX)) g.add(kX, outputs[kDx]);
  if (g.wants(at.bias())) g.add(at.bias(), outputs[kDBias]);
  if (g.wants(at.cluster_weight())) g.add(at.cluster_weight(), outputs[kDClusterWeight]);
  if (g.wants(at.cluster_bias())) g.add(at.cluster_bias(), outputs[kDClusterBias]);
}

std::vector<TensorType> AdaptiveSoftmaxLossGradient::infer(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const Places at{clusters.tables()};
  expect_loss(s, clusters, at, at.gradient_rng(), settings_);
  const int64_t N = s.in(kX).rows();
  expect(s.has(at.dlosses()), text("dlosses (input ", at.dlosses(), ") are missing"));
  expect_dtype(s, at.dlosses(), DType::kF32, "dlosses");
  expect_shape(s, at.dlosses(), {N}, "dlosses");
  const auto like = [&](size_t input, bool wanted) {
    return wanted && s.has(input) ? *s.inputs[input] : TensorType{{0}};
  };
  std::vector<TensorType> types = {TensorType{{N}}, like(kX, settings_.x), like(at.bias(), settings_.biases),
                                   like(at.cluster_weight(), settings_.tables),
                                   like(at.cluster_bias(), settings_.biases)};
  const auto rest =
      gradients_of_tables(s, at.table(0), at.so_far(0), at.tables, settings_.tables, settings_.projections);
  types.insert(types.end(), rest.begin(), rest.end());
  return types;
}

Cost AdaptiveSoftmaxLossGradient::cost(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const int products = 1 + (settings_.x || settings_.projections ? 1 : 0) + (settings_.tables ? 1 : 0);
  return {products * head_flops(s, clusters, Places{clusters.tables()}), static_cast<double>(s.bytes())};
}

int64_t AdaptiveSoftmaxLossGradient::scratch_bytes(const Signature& s) const {
  return scratch_size(s, clusters_of(settings_), true, settings_.chunk_rows);
}

std::vector<Alias> AdaptiveSoftmaxLossGradient::aliases(const Signature&) const {
  const Places at{clusters_of(settings_).tables()};
  std::vector<Alias> all;
  for (size_t i = 0; i < 2 * at.tables; ++i)
    all.push_back({static_cast<int>(kDTables + i), static_cast<int>(at.so_far(i)), true});
  return all;
}

void AdaptiveSoftmaxLossGradient::run(const Run& r) const { run_adaptive<true>(r, settings_, kKind); }

ValueId adaptive_log_probabilities(Graph& graph, const AdaptiveSoftmaxInputs& inputs,
                                   AdaptiveSoftmaxSettings settings) {
  return graph.add_one(make<AdaptiveLogProbabilities>(std::move(settings)), flatten(inputs, kNone));
}

std::vector<TensorType> AdaptiveLogProbabilities::infer(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const Places at{clusters.tables(), 1};
  expect_input_count(s, at.count());
  expect_adaptive(s, clusters, at);
  return {{{s.in(kX).rows(), clusters.vocabulary()}}};
}

Cost AdaptiveLogProbabilities::cost(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const Places at{clusters.tables(), 1};
  double flops = head_flops(s, clusters, at);
  for (size_t i = 1; i < clusters.count(); ++i) {
    const size_t table = clusters.table(i);
    const int64_t projection = s.has(at.projection(table)) ? s.in(at.projection(table)).elements() : 0;
    const int64_t each =
        clusters.size(i) * s.in(at.table(table)).dim(1) + (clusters.single_table ? 0 : projection);
    flops += 2.0 * static_cast<double>(s.in(kX).rows()) * static_cast<double>(each);
  }
  return {flops, static_cast<double>(s.bytes())};
}

namespace {

struct LogScratch {
  float* hidden;   // [N, largest e]
  float* entries;  // [N, m - 1]: the head's logits of clusters
  float* log_sum;  // [N]
  float* cluster;  // [N]: log p of one cluster

  template <class ShapeOf>
  LogScratch(Carver& carver, Clusters clusters, int64_t N, const ShapeOf& table_shape) {
    int64_t largest = 0;
    for (size_t i = 0; i < clusters.tables(); ++i) largest = std::max(largest, table_shape(i).dim(1));
    hidden = carver.take<float>(N * largest);
    entries = carver.take<float>(N * (static_cast<int64_t>(clusters.count()) - 1));
    log_sum = carver.take<float>(N);
    cluster = carver.take<float>(N);
  }
};

}  // namespace

int64_t AdaptiveLogProbabilities::scratch_bytes(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const Places at{clusters.tables(), 1};
  Carver carver;
  LogScratch(carver, clusters, s.in(kX).rows(), [&](size_t i) { return s.in(at.table(i)); });
  return carver.bytes();
}

void AdaptiveLogProbabilities::run(const Run& r) const {
  const Clusters clusters = clusters_of(settings_);
  const Places at{clusters.tables(), 1};
  const int64_t N = r.out(0).shape().dim(0), V = r.out(0).shape().dim(1), D = r.in(kX).shape().dim(-1);
  const int64_t shortlist = clusters.size(0), entries = static_cast<int64_t>(clusters.count()) - 1;
  const float* const bias = r.in_or_null(at.bias());
  const float* const cluster_bias = r.in_or_null(at.cluster_bias());
  float* const y = r.out(0).f32();
  Carver carver(r.scratch.data);
  const LogScratch scratch(carver, clusters, N, [&](size_t i) { return r.in(at.table(i)).shape(); });

  for (size_t i = 0; i < clusters.count(); ++i) {
    const size_t table = clusters.table(i);
    const int64_t E = r.in(at.table(table)).shape().dim(1);
    const float* hidden = r.in(kX).f32();
    if (const float* projection = r.in_or_null(at.projection(table))) {
      // One table has one projection: the head's product serves the tails.
      if (i == 0 || !clusters.single_table) {
        product(matrix(hidden, N, D), matrix(projection, D, E), scratch.hidden);
      }
      hidden = scratch.hidden;
    }
    float* const logits = y + clusters.begin(i);
    const float* const weight = r.in(at.table(table)).f32() + clusters.table_row(i) * E;
    product(matrix(hidden, N, E), transposed(matrix(weight, clusters.size(i), E)), logits, 0, V);
    if (i == 0 && entries > 0) {
      product(matrix(hidden, N, E), transposed(matrix(r.in(at.cluster_weight()).f32(), entries, E)),
              scratch.entries);
      for (int64_t n = 0; n < N; ++n) {  // a handful of entries: their share of the head's sum
        float* const z = scratch.entries + n * entries;
        float top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < entries; ++j)
          top = std::max(top, z[j] += cluster_bias ? cluster_bias[j] : 0.f);
        for (int64_t j = 0; j < entries; ++j) sum += std::exp(z[j] - top);
        scratch.cluster[n] = top + std::log(sum);
      }
    } else if (i > 0) {
      const int64_t entry = entry_of(clusters, settings_.order, i) - shortlist;
      for (int64_t n = 0; n < N; ++n)
        scratch.cluster[n] = scratch.entries[n * entries + entry] - scratch.log_sum[n];
    }
    kernels::log_softmax_rows({N, clusters.size(i), V, logits, bias ? bias + clusters.begin(i) : nullptr,
                               i == 0 && entries > 0 ? scratch.cluster : nullptr,
                               i > 0 ? scratch.cluster : nullptr, i == 0 ? scratch.log_sum : nullptr});
  }
}

}  // namespace heed::ops
