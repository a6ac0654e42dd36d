#include "heed/ops/adaptive_embedding.h"

#include "heed/kernels/embedding.h"
#include "heed/ops/matrix.h"
#include "heed/ops/vocabulary.h"

namespace heed::ops {
namespace {

constexpr int64_t kRowsAtOnce = 1024;  // enough for a product at full speed

// For a lookup the clusters of a single table are one.
template <class Settings>
Clusters lookup_clusters(const Settings& settings) {
  const std::span<const int64_t> cutoffs(settings.cutoffs);
  return {settings.single_table && !cutoffs.empty() ? cutoffs.last(1) : cutoffs, settings.single_table};
}

struct Scratch {
  Groups groups{};
  float* rows;   // [kRowsAtOnce, d]: of y or dy, gathered
  float* words;  // [kRowsAtOnce, widest e]: of the tables
  float* dwords;

  // d: width of y; first_table: input with the first of the tables [rows, e_i]
  Scratch(Carver& carver, const Signature& s, Clusters clusters, int64_t d, size_t first_table,
          bool gradient) {
    const int64_t N = s.in(0).elements();
    if (clusters.count() > 1) groups = Groups::carve(carver, N, clusters);
    const int64_t rows_at_once = std::min(N, kRowsAtOnce);
    const int64_t widest = widest_table(s, first_table, clusters);
    rows = carver.take<float>(rows_at_once * d);
    words = carver.take<float>(rows_at_once * widest);
    dwords = carver.take<float>(gradient ? rows_at_once * widest : 0);
  }
};

// A group of rows of one cluster.
struct Rows {
  size_t cluster;
  int64_t begin, count;  // in all rows, sorted by cluster
  int64_t first;         // number of the first one in its cluster
  const int32_t* index;  // [count]: their rows; null: from `begin` on
  const int32_t* ids;    // [count], counted from the start of the cluster
};

// body(rows) for up to kRowsAtOnce rows at a time. With one cluster there is nothing to group, and their
// index is null.
template <class Body>
void for_rows(Clusters clusters, std::span<const int32_t> ids, const Groups& groups, const Body& body) {
  if (clusters.count() > 1) groups.fill(ids, clusters);
  for (size_t i = 0; i < clusters.count(); ++i) {
    const bool one = clusters.count() == 1;
    const int64_t first = one ? 0 : groups.begin[i],
                  count = one ? static_cast<int64_t>(ids.size()) : groups.count(i);
    for (int64_t done = 0; done < count; done += kRowsAtOnce) {
      const int64_t begin = first + done;
      body(Rows{i, begin, std::min(kRowsAtOnce, count - done), done, one ? nullptr : groups.rows + begin,
                one ? ids.data() + begin : groups.ids + begin});
    }
  }
}

double projection_flops(const Signature& s, size_t first_projection, size_t tables, int64_t N) {
  // Which clusters the ids are in is not known before the run: counted as if all were in the first, the most
  // frequent.
  if (tables == 0 || !s.has(first_projection)) return 0;
  return 2.0 * static_cast<double>(N) * static_cast<double>(s.in(first_projection).elements());
}

// Inputs ids, tables, projections, rng.
class AdaptiveEmbedding : public OpWith<AdaptiveEmbedding, AdaptiveEmbeddingSettings> {
 public:
  static constexpr const char* kKind = "adaptive_embedding";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct AdaptiveEmbeddingGradientSettings : AdaptiveEmbeddingSettings {
  bool tables = true;
  bool projections = true;
  template <class Visitor>
  void visit(Visitor&& field) {
    AdaptiveEmbeddingSettings::visit(field);
    field("tables", tables, "gradients of the tables are wanted");
    field("projections", projections, "gradients of the projections are wanted");
  }
};

// Inputs ids, dy, tables, projections, then the gradients so far of tables and projections, in whose memory
// the sums are made, then rng; absent ones are none. Outputs the gradients of tables and projections, empty
// if not wanted or absent.
class AdaptiveEmbeddingGradient
    : public OpWith<AdaptiveEmbeddingGradient, AdaptiveEmbeddingGradientSettings> {
 public:
  static constexpr const char* kKind = "adaptive_embedding_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId adaptive_embedding(Graph& graph, ValueId ids, const std::vector<ValueId>& tables,
                           std::vector<ValueId> projections, AdaptiveEmbeddingSettings settings,
                           ValueId rng) {
  projections.resize(std::max(projections.size(), tables.size()), kNone);
  std::vector<ValueId> inputs = {ids};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  inputs.insert(inputs.end(), projections.begin(), projections.end());
  inputs.push_back(rng);
  return graph.add_one(make<AdaptiveEmbedding>(std::move(settings)), std::move(inputs));
}

std::vector<TensorType> AdaptiveEmbedding::infer(const Signature& s) const {
  const Clusters clusters = lookup_clusters(settings_);
  const size_t rng = 1 + 2 * clusters.tables();
  expect_input_count(s, rng + 1);
  expect_cluster_dropout(s, rng, settings_.dropout);
  expect_ids(s);
  expect_ascending(settings_.cutoffs);
  return {{with_last(s.in(0), expect_clusters(s, 1, clusters))}};
}

Cost AdaptiveEmbedding::cost(const Signature& s) const {
  const size_t tables = lookup_clusters(settings_).tables();
  return {projection_flops(s, 1 + tables, tables, s.in(0).elements()),
          8.0 * static_cast<double>(s.out(0).elements())};
}

Scratch AdaptiveEmbedding::carve(Carver& carver, const Signature& s) const {
  return {carver, s, lookup_clusters(settings_), s.out(0).dim(-1), 1, false};
}

void AdaptiveEmbedding::run(const Run& r) const {
  const Clusters clusters = lookup_clusters(settings_);
  const size_t tables = clusters.tables();
  const auto ids = r.in(0).ints();
  const int64_t d = r.out(0).shape().dim(-1);
  float* const y = r.out(0).f32();
  const float scale = static_cast<float>(settings_.scale);
  check_ids(kKind, "id", ids, clusters.vocabulary(), Negative::kRefused);
  const Scratch scratch = scratch_of(r);
  const ClusterDropout dropout = cluster_dropout(settings_, r, 1 + 2 * tables);
  for_rows(clusters, ids, scratch.groups, [&](const Rows& rows) {
    const size_t i = rows.cluster;
    const int64_t count = rows.count, e = r.in(1 + i).shape().dim(1);
    const float* projection = r.in_or_null(1 + tables + i);
    float* const result = rows.index ? scratch.rows : y + rows.begin * d;
    float* const found = projection ? scratch.words : result;
    kernels::gather_rows({count, e, rows.ids, scale, r.in(1 + i).f32(), nullptr, 1, found});
    if (projection) {
      dropout.of(i).drop(rows.first, count, e, found);
      product(matrix(found, count, e), transposed(matrix(projection, d, e)), result);
    }
    if (rows.index) kernels::scatter_rows({count, d, rows.index, 1.f, result, y, false});
  });
}

void AdaptiveEmbedding::gradient(Gradients& g) const {
  const size_t tables = lookup_clusters(settings_).tables();
  const AdaptiveEmbeddingGradientSettings settings{settings_, wants_any(g, 1, tables),
                                                   wants_any(g, 1 + tables, tables)};
  std::vector<ValueId> inputs = {g.input(0), g.output_gradient(0)};
  for (size_t i = 0; i < 2 * tables; ++i) inputs.push_back(g.saved(g.input(1 + i)));
  const auto so_far = sums_so_far(g, 1, 2 * tables);
  inputs.insert(inputs.end(), so_far.begin(), so_far.end());
  inputs.push_back(g.input(1 + 2 * tables));
  set_sums(g, 1, g.graph().add(make<AdaptiveEmbeddingGradient>(settings), std::move(inputs)));
}

std::vector<TensorType> AdaptiveEmbeddingGradient::infer(const Signature& s) const {
  const Clusters clusters = lookup_clusters(settings_);
  const size_t tables = clusters.tables();
  const size_t rng = 2 + 4 * tables;
  expect_input_count(s, rng + 1);
  expect_cluster_dropout(s, rng, settings_.dropout);
  expect_ids(s);
  expect(s.has(1), "dy (input 1) is missing");
  expect_dtype(s, 1, DType::kF32, "dy");
  expect_ascending(settings_.cutoffs);
  const int64_t d = expect_clusters(s, 2, clusters);
  expect_shape(s, 1, with_last(s.in(0), d), "dy");
  return gradients_of_tables(s, 2, 2 + 2 * tables, clusters, settings_.tables, settings_.projections);
}

Cost AdaptiveEmbeddingGradient::cost(const Signature& s) const {
  const size_t tables = lookup_clusters(settings_).tables();
  const double products = (settings_.tables ? 1 : 0) + (settings_.projections ? 1 : 0);
  double bytes = 12.0 * static_cast<double>(s.in(1).elements());
  for (size_t i = 0; i < tables; ++i)
    bytes += s.has(2 + 2 * tables + i) ? 0 : static_cast<double>(s.outputs[i].bytes());
  return {products * projection_flops(s, 2 + tables, tables, s.in(0).elements()), bytes};
}

Scratch AdaptiveEmbeddingGradient::carve(Carver& carver, const Signature& s) const {
  return {carver, s, lookup_clusters(settings_), s.in(1).dim(-1), 2, true};
}

std::vector<Alias> AdaptiveEmbeddingGradient::aliases(const Signature&) const {
  const int count = 2 * static_cast<int>(lookup_clusters(settings_).tables());  // of tables and projections
  std::vector<Alias> all;
  for (int i = 0; i < count; ++i) all.push_back({i, 2 + count + i, true});
  return all;
}

void AdaptiveEmbeddingGradient::run(const Run& r) const {
  const Clusters clusters = lookup_clusters(settings_);
  const size_t tables = clusters.tables();
  const auto ids = r.in(0).ints();
  const int64_t d = r.in(1).shape().dim(-1);
  const float* const dy = r.in(1).f32();
  const float scale = static_cast<float>(settings_.scale);
  check_ids(kKind, "id", ids, clusters.vocabulary(), Negative::kRefused);
  for (size_t i = 0; i < 2 * tables; ++i) {
    if (!r.has(2 + 2 * tables + i)) kernels::clear({r.out(i).shape().elements(), r.out(i).f32()});
  }
  const Scratch scratch = scratch_of(r);
  const ClusterDropout dropout = cluster_dropout(settings_, r, 2 + 4 * tables);
  for_rows(clusters, ids, scratch.groups, [&](const Rows& rows) {
    const size_t i = rows.cluster;
    const int64_t count = rows.count, e = r.in(2 + i).shape().dim(1);
    const float* projection = r.in_or_null(2 + tables + i);
    const float* given = dy + rows.begin * d;
    if (rows.index) {
      kernels::gather_rows({count, d, rows.index, 1.f, dy, nullptr, 1, scratch.rows});
      given = scratch.rows;
    }
    if (settings_.tables) {
      const float* dwords = given;
      if (projection) {
        product(matrix(given, count, d), matrix(projection, d, e), scratch.dwords);
        dropout.of(i).drop(rows.first, count, e, scratch.dwords);
        dwords = scratch.dwords;
      }
      kernels::scatter_rows({count, e, rows.ids, scale, dwords, r.out(i).f32(), true});
    }
    if (settings_.projections && projection) {
      kernels::gather_rows({count, e, rows.ids, scale, r.in(2 + i).f32(), nullptr, 1, scratch.words});
      dropout.of(i).drop(rows.first, count, e, scratch.words);
      product(transposed(matrix(given, count, d)), matrix(scratch.words, count, e), r.out(tables + i).f32(),
              1);
    }
  });
}

std::vector<OpEntry> adaptive_embedding_ops() {
  return {entry<AdaptiveEmbedding>(), entry<AdaptiveEmbeddingGradient>()};
}

}  // namespace heed::ops
