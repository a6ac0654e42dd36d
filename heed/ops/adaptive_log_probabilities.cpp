#include <cmath>

#include "heed/kernels/softmax.h"
#include "heed/ops/adaptive_softmax_inputs.h"
#include "heed/ops/matrix.h"

namespace heed::ops {
namespace {

struct Scratch {
  float* hidden;   // [N, widest e]
  float* entries;  // [N, m - 1]: the head's logits of clusters
  float* log_sum;  // [N]
  float* cluster;  // [N]: log p of one cluster

  Scratch(Carver& carver, const Signature& s, Clusters clusters, AdaptivePlaces at) {
    const int64_t N = s.in(kX).rows();
    hidden = carver.take<float>(N * widest_table(s, at.table(0), clusters));
    entries = carver.take<float>(N * (static_cast<int64_t>(clusters.count()) - 1));
    log_sum = carver.take<float>(N);
    cluster = carver.take<float>(N);
  }
};

// One product serves consecutive clusters.
bool projects_as_before(Clusters clusters, size_t cluster) {
  return cluster > 0 && clusters.projection(cluster) == clusters.projection(cluster - 1);
}

// Inputs as the loss, without targets and rng.
class AdaptiveLogProbabilities : public OpWith<AdaptiveLogProbabilities, AdaptiveSoftmaxSettings> {
 public:
  static constexpr const char* kKind = "adaptive_log_probabilities";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
};

}  // namespace

ValueId adaptive_log_probabilities(Graph& graph, const AdaptiveSoftmaxInputs& inputs,
                                   AdaptiveSoftmaxSettings settings) {
  return graph.add_one(make<AdaptiveLogProbabilities>(std::move(settings)), flatten(inputs, kNone));
}

std::vector<TensorType> AdaptiveLogProbabilities::infer(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const AdaptivePlaces at(clusters, 1);
  expect_input_count(s, at.count());
  expect_adaptive(s, clusters, at);
  return {{{s.in(kX).rows(), clusters.vocabulary()}}};
}

Cost AdaptiveLogProbabilities::cost(const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  const AdaptivePlaces at(clusters, 1);
  double flops = head_flops(s, clusters, at);
  for (size_t i = 1; i < clusters.count(); ++i) {
    const size_t projection = at.projection(clusters.projection(i));
    const bool projects = s.has(projection) && !projects_as_before(clusters, i);
    const int64_t each = clusters.size(i) * s.in(at.table(clusters.table(i))).dim(1) +
                         (projects ? s.in(projection).elements() : 0);
    flops += 2.0 * static_cast<double>(s.in(kX).rows()) * static_cast<double>(each);
  }
  return {flops, static_cast<double>(s.bytes())};
}

Scratch AdaptiveLogProbabilities::carve(Carver& carver, const Signature& s) const {
  const Clusters clusters = clusters_of(settings_);
  return {carver, s, clusters, AdaptivePlaces(clusters, 1)};
}

void AdaptiveLogProbabilities::run(const Run& r) const {
  const Clusters clusters = clusters_of(settings_);
  const AdaptivePlaces at(clusters, 1);
  const int64_t N = r.out(0).shape().dim(0), V = r.out(0).shape().dim(1), D = r.in(kX).shape().dim(-1);
  const int64_t shortlist = clusters.size(0), entries = static_cast<int64_t>(clusters.count()) - 1;
  const float* const bias = r.in_or_null(at.bias());
  const float* const cluster_bias = r.in_or_null(at.cluster_bias());
  float* const y = r.out(0).f32();
  const Scratch scratch = scratch_of(r);

  for (size_t i = 0; i < clusters.count(); ++i) {
    const size_t table = clusters.table(i);
    const int64_t E = r.in(at.table(table)).shape().dim(1);
    const float* hidden = r.in(kX).f32();
    if (const float* projection = r.in_or_null(at.projection(clusters.projection(i)))) {
      if (!projects_as_before(clusters, i))
        product(matrix(hidden, N, D), matrix(projection, D, E), scratch.hidden);
      hidden = scratch.hidden;
    }
    float* const logits = y + clusters.begin(i);
    const float* const weight = r.in(at.table(table)).f32() + clusters.table_row(i) * E;
    product(matrix(hidden, N, E), transposed(matrix(weight, clusters.size(i), E)), logits, 0, V);
    if (i == 0 && entries > 0) {
      product(matrix(hidden, N, E), transposed(matrix(r.in(at.cluster_weight()).f32(), entries, E)),
              scratch.entries);
      for (int64_t n = 0; n < N; ++n) {  // a few entries: their share of the head's sum
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

std::vector<OpEntry> adaptive_log_probabilities_ops() { return {entry<AdaptiveLogProbabilities>()}; }

}  // namespace heed::ops
