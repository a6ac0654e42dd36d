#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct AdaptiveEmbeddingSettings {
  std::vector<int64_t> cutoffs = {};
  double scale = 1;
  bool single_table = false;
  double dropout = 0;
  int64_t stream = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("cutoffs", cutoffs, "where clusters of ids end; the last is the size of the vocabulary");
    field("scale", scale, "of the result");
    field("single_table", single_table, "the clusters are slices of one table with at most one projection");
    field("dropout", dropout, "share of elements dropped before a projection");
    field("stream", stream, "of random numbers of the first cluster; those of the others follow");
  }
};

// y = scale * dropout(table_i[id - begin_i]) projection_i^T for an id of cluster i (Baevski and Auli 2019;
// Javaheripi and others 2022). ids: i32 [..., T]; m tables [size_i, e_i] and m projections [d, e_i] (one of
// each with single_table). A projection may be kNone where e_i == d; an empty list stands for none at all.
// Result: [..., T, d].
//
// rng: i32 [4], seed and step, or kNone: nothing is dropped. A cluster without projection drops nothing
// either. Cluster i draws from stream + i (kernels/dropout.h): the n-th of its ids, in the order they stand
// in, has elements n * e_i on. With single_table all ids are of one cluster.
ValueId adaptive_embedding(Graph& graph, ValueId ids, const std::vector<ValueId>& tables,
                           std::vector<ValueId> projections, AdaptiveEmbeddingSettings settings,
                           ValueId rng = kNone);

// Inputs ids, tables, projections, rng.
class AdaptiveEmbedding : public OpWith<AdaptiveEmbedding, AdaptiveEmbeddingSettings> {
 public:
  static constexpr const char* kKind = "adaptive_embedding";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct AdaptiveEmbeddingGradientSettings {
  std::vector<int64_t> cutoffs = {};
  double scale = 1;
  bool single_table = false;
  double dropout = 0;
  int64_t stream = 0;
  bool tables = true;
  bool projections = true;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("cutoffs", cutoffs, "of the forward op");
    field("scale", scale, "of the forward op");
    field("single_table", single_table, "of the forward op");
    field("dropout", dropout, "of the forward op");
    field("stream", stream, "of the forward op");
    field("tables", tables, "gradients of the tables are wanted");
    field("projections", projections, "gradients of the projections are wanted");
  }
};

// Inputs ids, dy, tables, projections, then the gradients so far of tables and projections, in whose memory
// the sums are made, then rng; none where there is nothing. Outputs the gradients of tables and projections,
// empty where not wanted or absent.
class AdaptiveEmbeddingGradient
    : public OpWith<AdaptiveEmbeddingGradient, AdaptiveEmbeddingGradientSettings> {
 public:
  static constexpr const char* kKind = "adaptive_embedding_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
