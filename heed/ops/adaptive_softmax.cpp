#include "heed/ops/adaptive_softmax.h"

#include <cmath>

#include "heed/kernels/embedding.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/adaptive_softmax_inputs.h"
#include "heed/ops/softmax_part.h"

namespace heed::ops {
namespace {

// Outputs of the gradient.
constexpr size_t kLosses = 0, kDx = 1, kDBias = 2, kDClusterWeight = 3, kDClusterBias = 4, kDTables = 5;

template <class Settings>
void expect_loss(const Signature& s, Clusters clusters, AdaptivePlaces at, size_t rng,
                 const Settings& settings) {
  expect_input_count(s, rng + 1);
  expect_adaptive(s, clusters, at);
  expect_chunk_rows(settings.chunk_rows);
  expect_cluster_dropout(s, rng, settings.dropout);
  expect_targets(s, kTargets, s.in(kX).rows());
}

struct Scratch {
  SoftmaxScratch part;
  Groups groups{};
  int32_t* active;   // room for active_rows
  float* head_bias;  // [shortlist + entries]: the head's biases come from two tensors
  float* head_dbias;

  Scratch(Carver& carver, const Signature& s, Clusters clusters, AdaptivePlaces at, bool gradient,
          int64_t chunk_rows) {
    const int64_t N = s.in(kX).rows();
    for (size_t i = 0; i < clusters.count(); ++i)
      part.include(size_of(i, s, clusters, at, gradient, chunk_rows));
    part.carve(carver);
    groups = Groups::carve(carver, N, clusters);
    active = carver.take<int32_t>(2 * N);
    const int64_t columns = clusters.size(0) + static_cast<int64_t>(clusters.count()) - 1;
    head_bias = carver.take<float>(columns);
    head_dbias = carver.take<float>(gradient ? columns : 0);
  }

  static SoftmaxPartSize size_of(size_t i, const Signature& s, Clusters clusters, AdaptivePlaces at,
                                 bool gradient, int64_t chunk_rows) {
    const int64_t columns = clusters.size(i) + (i == 0 ? static_cast<int64_t>(clusters.count()) - 1 : 0);
    return {columns,
            s.in(kX).dim(-1),
            s.in(at.table(clusters.table(i))).dim(1),
            s.has(at.projection(clusters.projection(i))),
            gradient,
            softmax_chunk_rows(s.in(kX).rows(), columns, chunk_rows)};
  }
};

// Loss and, with GradientSettings, gradient: the head for all rows that count, then each tail for those whose
// target it holds.
template <bool gradient, class Settings>
void run_adaptive(const Run& r, const Settings& settings, const Scratch& scratch, const char* op) {
  const Clusters clusters = clusters_of(settings);
  const AdaptivePlaces at(clusters);
  const auto targets = r.in(kTargets).ints();
  check_ids(op, "target", targets, clusters.vocabulary(), Negative::kIgnored);
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

  // Each wanted gradient is cleared, or continues from the sum so far.
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
    for (size_t i = 0; i < at.projections; ++i) {
      if (!r.has(at.so_far(at.tables + i))) cleared(kDTables + at.tables + i);
    }
    if (dbias || dcluster_bias) std::fill_n(scratch.head_dbias, shortlist + entries, 0.f);
  }

  for (size_t i = 0; i < clusters.count(); ++i) {
    const size_t table = clusters.table(i), projection = clusters.projection(i);
    SoftmaxPart part{.size = Scratch::size_of(i, *r.signature, clusters, at, gradient, settings.chunk_rows)};
    const int64_t table_begin = clusters.table_row(i) * part.size.inner;
    part.x = r.in(kX).f32();
    part.projection = r.in_or_null(at.projection(projection));
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
      part.dprojection = wanted(kDTables + at.tables + projection);
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

// Inputs x, targets, bias, cluster_weight, cluster_bias, tables, projections, rng. The cost counts the head:
// how many rows need which tail is known only at run time.
class AdaptiveSoftmaxLoss : public OpWith<AdaptiveSoftmaxLoss, AdaptiveSoftmaxSettings> {
 public:
  static constexpr const char* kKind = "adaptive_softmax_loss";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct AdaptiveSoftmaxGradientSettings : AdaptiveSoftmaxSettings {
  bool x = true;
  bool biases = true;
  bool tables = true;
  bool projections = true;
  template <class Visitor>
  void visit(Visitor&& field) {
    AdaptiveSoftmaxSettings::visit(field);
    field("x", x, "the gradient of x is wanted");
    field("biases", biases, "gradients of bias and cluster_bias are wanted");
    field("tables", tables, "gradients of the tables and cluster_weight are wanted");
    field("projections", projections, "gradients of the projections are wanted");
  }
};

// Loss and gradient in one, as softmax_loss_gradient. Inputs those of the loss up to the projections, then
// dlosses: [N], then the gradients so far of tables and projections or none, in whose memory the sums are
// made, then rng. Outputs losses, dx, dbias, dcluster_weight, dcluster_bias, gradients of tables, of
// projections; empty where not wanted or absent.
class AdaptiveSoftmaxLossGradient
    : public OpWith<AdaptiveSoftmaxLossGradient, AdaptiveSoftmaxGradientSettings> {
 public:
  static constexpr const char* kKind = "adaptive_softmax_loss_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId adaptive_softmax_loss(Graph& graph, const AdaptiveSoftmaxInputs& inputs, ValueId targets,
                              AdaptiveSoftmaxSettings settings) {
  expect(bool(targets), "adaptive_softmax_loss: targets must be given");
  return graph.add_one(make<AdaptiveSoftmaxLoss>(std::move(settings)), flatten(inputs, targets));
}

std::vector<TensorType> AdaptiveSoftmaxLoss::infer(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const AdaptivePlaces at(clusters);
  expect_loss(s, clusters, at, at.rng(), settings_);
  return {TensorType{s.in(kX).rows()}};
}

Cost AdaptiveSoftmaxLoss::cost(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  return {head_flops(s, clusters, AdaptivePlaces(clusters)), static_cast<double>(s.bytes())};
}

Scratch AdaptiveSoftmaxLoss::carve(Carver& carver, const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  return {carver, s, clusters, AdaptivePlaces(clusters), false, settings_.chunk_rows};
}

void AdaptiveSoftmaxLoss::run(const Run& r) const { run_adaptive<false>(r, settings_, scratch_of(r), kKind); }

void AdaptiveSoftmaxLoss::gradient(Gradients& g) const {
  const AdaptivePlaces at(clusters_of(settings_));
  const AdaptiveSoftmaxGradientSettings settings{
      settings_, g.wants(kX), g.wants(at.bias()) || g.wants(at.cluster_bias()),
      wants_any(g, at.table(0), at.tables) || g.wants(at.cluster_weight()),
      wants_any(g, at.projection(0), at.projections)};
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < at.count(); ++i) inputs.push_back(g.saved(g.input(i)));
  inputs.push_back(g.output_gradient(0));
  const auto so_far = sums_so_far(g, at.table(0), at.tables + at.projections);
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
  const AdaptivePlaces at(clusters);
  expect_loss(s, clusters, at, at.gradient_rng(), settings_);
  const int64_t N = s.in(kX).rows();
  expect(s.has(at.dlosses()), text("dlosses (input ", at.dlosses(), ") are missing"));
  expect_type(s, at.dlosses(), DType::kF32, {N}, "dlosses");
  const auto like = [&](size_t input, bool wanted) {
    return wanted && s.has(input) ? *s.inputs[input] : TensorType{0};
  };
  std::vector<TensorType> types = {TensorType{N}, like(kX, settings_.x), like(at.bias(), settings_.biases),
                                   like(at.cluster_weight(), settings_.tables),
                                   like(at.cluster_bias(), settings_.biases)};
  const auto rest =
      gradients_of_tables(s, at.table(0), at.so_far(0), clusters, settings_.tables, settings_.projections);
  types.insert(types.end(), rest.begin(), rest.end());
  return types;
}

Cost AdaptiveSoftmaxLossGradient::cost(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const int products = 1 + (settings_.x || settings_.projections ? 1 : 0) + (settings_.tables ? 1 : 0);
  return {products * head_flops(s, clusters, AdaptivePlaces(clusters)), static_cast<double>(s.bytes())};
}

Scratch AdaptiveSoftmaxLossGradient::carve(Carver& carver, const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  return {carver, s, clusters, AdaptivePlaces(clusters), true, settings_.chunk_rows};
}

std::vector<Alias> AdaptiveSoftmaxLossGradient::aliases(const Signature&) const {
  const AdaptivePlaces at(clusters_of(settings_));
  std::vector<Alias> all;
  for (size_t i = 0; i < at.tables + at.projections; ++i)
    all.push_back({static_cast<int>(kDTables + i), static_cast<int>(at.so_far(i)), true});
  return all;
}

void AdaptiveSoftmaxLossGradient::run(const Run& r) const {
  run_adaptive<true>(r, settings_, scratch_of(r), kKind);
}

std::vector<OpEntry> adaptive_softmax_ops() {
  return {entry<AdaptiveSoftmaxLoss>(), entry<AdaptiveSoftmaxLossGradient>()};
}

}  // namespace heed::ops
