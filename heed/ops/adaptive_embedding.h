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
// either. Cluster i draws from stream + i (kernels/dropout.h): the n-th of its ids, in
// order, has elements n * e_i on. With single_table all ids are of one cluster.
ValueId adaptive_embedding(Graph& graph, ValueId ids, const std::vector<ValueId>& tables,
                           std::vector<ValueId> projections, AdaptiveEmbeddingSettings settings,
                           ValueId rng = kNone);

std::vector<OpEntry> adaptive_embedding_ops();

}  // namespace heed::ops
