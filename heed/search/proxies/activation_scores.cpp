#include "heed/search/proxies/activation_scores.h"

#include <bit>
#include <cmath>

#include "heed/base/philox.h"
#include "heed/ops/ops.h"
#include "heed/search/proxies/probe.h"
#include "heed/search/proxies/spectrum.h"

namespace heed::search {
namespace {

// log |det K|, K by pairs of tokens: in how many units of the activation layers both are on, or both off.
double relu_log_det(const spec::ModelSpec& model, const ProxyInput& batch) {
  Probe probe(model, batch);
  std::vector<graph::ValueId> before;
  for (const model::Product& product : probe.model().products) {
    if (product.activated) before.push_back(product.output);
  }
  probe.finish(before);
  probe.run();
  const int64_t N = batch.sequences * batch.length;
  std::vector<double> agree(static_cast<size_t>(N * N));
  for (const graph::ValueId value : before) {
    const Tensor x = probe.tensor(value);
    const int64_t F = x.shape().dim(-1), words = (F + 63) / 64;
    std::vector<uint64_t> bits(static_cast<size_t>(N * words));
    for (int64_t i = 0; i < N; ++i) {
      for (int64_t j = 0; j < F; ++j) {
        if (x.f32()[i * F + j] > 0) bits[static_cast<size_t>(i * words + j / 64)] |= uint64_t{1} << (j % 64);
      }
    }
    for (int64_t a = 0; a < N; ++a) {
      for (int64_t b = 0; b < N; ++b) {
        int64_t different = 0;
        for (int64_t w = 0; w < words; ++w)
          different += std::popcount(bits[static_cast<size_t>(a * words + w)] ^
                                     bits[static_cast<size_t>(b * words + w)]);
        agree[static_cast<size_t>(a * N + b)] += static_cast<double>(F - different);
      }
    }
  }
  return log_determinant(std::move(agree), N);
}

// The gradient of the sum of per_word[v] * logit[v] by the hidden vector: [D]. Logits of words, or of the
// head alone with its entries for clusters.
std::vector<double> effect_on_hidden(Probe& probe, const std::vector<double>& per_word, bool head_only) {
  const model::Output& output = probe.model().output;
  const int64_t D = probe.graph().shape(probe.model().hidden).dim(-1);
  std::vector<double> effect(static_cast<size_t>(D));
  for (const model::Output::Cluster& cluster : output.clusters) {
    const Tensor table = probe.tensor(cluster.table);
    const int64_t E = table.shape().dim(1);
    std::vector<double> inner(static_cast<size_t>(E));
    for (int64_t v = cluster.begin; v < cluster.end; ++v) {
      const float* const row = table.f32() + (v - cluster.begin + cluster.first_row) * E;
      for (int64_t j = 0; j < E; ++j)
        inner[static_cast<size_t>(j)] += per_word[static_cast<size_t>(v)] * row[j];
    }
    if (head_only && output.entries) {
      const Tensor entries = probe.tensor(output.entries);
      for (int64_t k = 0; k < entries.shape().elements(); ++k)
        inner[static_cast<size_t>(k % E)] += entries.f32()[k];
    }
    if (cluster.projection) {
      const Tensor projection = probe.tensor(cluster.projection);
      for (int64_t d = 0; d < D; ++d) {
        for (int64_t j = 0; j < E; ++j)
          effect[static_cast<size_t>(d)] += projection.f32()[d * E + j] * inner[static_cast<size_t>(j)];
      }
    } else {
      for (int64_t d = 0; d < D; ++d) effect[static_cast<size_t>(d)] += inner[static_cast<size_t>(d)];
    }
    if (head_only) break;
  }
  return effect;
}

// Writes `effect` into every row of the input.
void fill_rows(const Tensor& input, const std::vector<double>& effect) {
  const auto to = input.floats();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(effect[i % effect.size()]);
}

// How similar the gradients of different positions (or, with learned positions, of different texts) are:
// eigenvalues of their correlations.
double jacob_cov(const spec::ModelSpec& model, const ProxyInput& batch) {
  Probe probe(model, batch);
  graph::Graph& graph = probe.graph();
  const graph::ValueId hidden = probe.model().hidden, embedded = probe.model().embedded;
  const graph::ValueId seed = graph.input("seed", graph.shape(hidden));
  const graph::ValueId jacobian = ops::gradients(graph, {{hidden, seed}}, {embedded}).at(embedded);
  // The tables must exist although no part of the output runs.
  probe.finish({jacobian, probe.model().losses});
  fill_rows(probe.tensor(seed),
            effect_on_hidden(probe, random_map(model.embedding.vocabulary, batch.seed), false));
  probe.run();
  const float* const j = probe.tensor(jacobian).f32();
  const int64_t B = batch.sequences, T = batch.length, D = model.width;
  const bool by_text = model.positions == Positions::kLearned;
  const int64_t n = by_text ? B : T, m = (by_text ? T : B) * D;
  // Row r, column c of the matrix whose rows are compared.
  const auto value = [&](int64_t r, int64_t c) {
    return static_cast<double>(by_text ? j[r * m + c] : j[(c / D * T + r) * D + c % D]);
  };
  std::vector<double> mean(static_cast<size_t>(n)), covariance(static_cast<size_t>(n * n));
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < m; ++c) mean[static_cast<size_t>(r)] += value(r, c) / static_cast<double>(m);
  }
  for (int64_t a = 0; a < n; ++a) {
    for (int64_t b = a; b < n; ++b) {
      double sum = 0;
      for (int64_t c = 0; c < m; ++c)
        sum += (value(a, c) - mean[static_cast<size_t>(a)]) * (value(b, c) - mean[static_cast<size_t>(b)]);
      covariance[static_cast<size_t>(a * n + b)] = covariance[static_cast<size_t>(b * n + a)] = sum;
    }
  }
  std::vector<double> correlation(covariance.size());
  for (int64_t a = 0; a < n; ++a) {
    for (int64_t b = 0; b < n; ++b)
      correlation[static_cast<size_t>(a * n + b)] =
          covariance[static_cast<size_t>(a * n + b)] /
          std::sqrt(covariance[static_cast<size_t>(a * n + a)] * covariance[static_cast<size_t>(b * n + b)]);
  }
  double score = 0;
  for (const double v : eigenvalues(std::move(correlation), n)) score -= std::log(v + 1e-5) + 1 / (v + 1e-5);
  return score;
}

// The sum of |weight * gradient| of the head's logits, all weights by absolute value and ones for
// embeddings: how much flows through. Layer norms are kept, as in the public code.
double synflow(const spec::ModelSpec& model, const ProxyInput& batch) {
  ProxyInput one{1, batch.length, std::vector<int32_t>(static_cast<size_t>(batch.length)),
                 std::vector<int32_t>(static_cast<size_t>(batch.length)), batch.seed};
  Probe probe(model, one);
  graph::Graph& graph = probe.graph();
  const graph::ValueId embedded = probe.model().embedded, hidden = probe.model().hidden;
  const graph::ValueId ones = graph.input("ones", graph.shape(embedded));
  graph.replace_uses(embedded, ones);
  const graph::ValueId distances = probe.model().distances;
  const graph::ValueId distance_ones =
      distances ? graph.input("distance_ones", graph.shape(distances)) : graph::kNone;
  if (distances) graph.replace_uses(distances, distance_ones);
  std::vector<graph::ValueId> maps, read;
  for (const model::Product& product : probe.model().products) maps.push_back(product.matrix);
  const graph::ValueId seed = graph.input("seed", graph.shape(hidden));
  const auto by = ops::gradients(graph, {{hidden, seed}}, maps);
  for (const auto& [map, gradient] : by) read.push_back(gradient);
  read.push_back(probe.model().losses);  // so that the tables exist
  probe.finish(read);
  for (const auto& [name, tensor] : probe.parameters().all()) {
    for (float& value : tensor.floats()) value = std::abs(value);
  }
  fill_rows(probe.tensor(ones), {1});
  if (probe.model().positions) {
    const Tensor positions = probe.tensor(probe.model().positions);
    const auto to = probe.tensor(ones).floats();
    for (size_t i = 0; i < to.size(); ++i) to[i] += positions.f32()[i];
  }
  if (distances) fill_rows(probe.tensor(distance_ones), {1});
  fill_rows(probe.tensor(seed),
            effect_on_hidden(probe, std::vector<double>(static_cast<size_t>(model.embedding.vocabulary), 1.0),
                             true));
  probe.run();
  double sum = 0;
  for (const auto& [map, gradient] : by) {
    const Tensor weight = probe.tensor(map), g = probe.tensor(gradient);
    for (int64_t i = 0; i < weight.shape().elements(); ++i)
      sum += std::abs(static_cast<double>(weight.f32()[i]) * g.f32()[i]);
  }
  return sum;
}

}  // namespace

std::vector<double> random_map(int64_t vocabulary, uint64_t seed) {
  std::vector<double> map(static_cast<size_t>(vocabulary));
  Rng rng(seed, 7);
  const double bound = 1 / std::sqrt(static_cast<double>(vocabulary));
  for (double& value : map) value = static_cast<float>(rng.uniform(-bound, bound));
  return map;
}

Proxy relu_log_det_proxy() {
  return {"relu_log_det", "how differently tokens activate feed-forward units", true, relu_log_det};
}
Proxy jacob_cov_proxy() {
  return {"jacob_cov", "how differently the output depends on different inputs", true, jacob_cov};
}
Proxy synflow_proxy() { return {"synflow", "how much flows through the weights", true, synflow}; }

}  // namespace heed::search
