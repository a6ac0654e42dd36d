// Adaptive softmax (Grave and others, "Efficient softmax approximation for GPUs", 2017; as Transformer-XL has
// it, Grave and others 2017).
//
// The head is a softmax over the first cluster's words, the shortlist, and one entry per further cluster;
// each of those has its own softmax: log p(word of cluster i) = log p_head(entry of i) + log p_i(word).
#pragma once

#include <utility>

#include "heed/ops/define.h"

namespace heed {

// Which of the head's entries, counted from 1, belongs to cluster i of 1 to m - 1: entry i, or the i-th from
// the end, which is how the PyTorch implementations read them.
enum class ClusterOrder { kForward, kReverse };

template <>
struct EnumNames<ClusterOrder> {
  static constexpr std::pair<ClusterOrder, const char*> names[] = {{ClusterOrder::kForward, "forward"},
                                                                   {ClusterOrder::kReverse, "reverse"}};
};

}  // namespace heed

namespace heed::ops {

struct AdaptiveSoftmaxSettings {
  std::vector<int64_t> cutoffs = {};
  ClusterOrder order = ClusterOrder::kForward;
  bool single_table = false;
  int64_t chunk_rows = 0;
  double dropout = 0;
  int64_t stream = 0;
  std::vector<int64_t> projection_of = {};
  template <class Visitor>
  void visit(Visitor&& field) {
    field("cutoffs", cutoffs, "where clusters of ids end; the last is the size of the vocabulary");
    field("order", order, "which head entry belongs to which cluster");
    field("single_table", single_table, "the clusters are slices of one table");
    field("chunk_rows", chunk_rows, "rows whose logits exist at once, 0: as many as fit about 48 MiB");
    field("dropout", dropout, "share of elements dropped after a projection");
    field("stream", stream, "of random numbers of the head; those of the tails follow");
    field("projection_of", projection_of,
          "the number of each cluster's projection, from 0; empty: each table has its own");
  }
};

// x: [..., d], bias: [V], cluster_weight: [m-1, e_0], cluster_bias: [m-1]; m tables [size_i, e_i], or one
// with single_table; as many projections [d, e_i], or those of projection_of, each given once however many
// clusters use it. May be kNone: the biases; cluster_weight if m is 1; a projection where e_i == d. An empty
// list of projections stands for none at all.
//
// rng: i32 [4], seed and step, or kNone: nothing is dropped. Of the loss only: there, the logits of cluster i
// are dropout(x projection_i) table_i^T + bias_i (Lei 2021); a cluster without projection drops nothing.
// Cluster i draws from stream + i (kernels/dropout.h): the n-th of the rows that need it has elements
// n * e_i on. Those are, in order, all that count for the head, and for a tail those whose target it holds.
struct AdaptiveSoftmaxInputs {
  ValueId x = kNone;
  ValueId bias = kNone;
  ValueId cluster_weight = kNone;
  ValueId cluster_bias = kNone;
  std::vector<ValueId> tables = {};
  std::vector<ValueId> projections = {};
  ValueId rng = kNone;
};

// -log p(target) by row, in the order of the rows; 0 where the target is negative. Throws at run time if a
// target is V or more. Result: [N].
ValueId adaptive_softmax_loss(Graph& graph, const AdaptiveSoftmaxInputs& inputs, ValueId targets,
                              AdaptiveSoftmaxSettings settings);
// log p of every word: [N, V]. For generation; no gradient.
ValueId adaptive_log_probabilities(Graph& graph, const AdaptiveSoftmaxInputs& inputs,
                                   AdaptiveSoftmaxSettings settings);

std::vector<OpEntry> adaptive_log_probabilities_ops();
std::vector<OpEntry> adaptive_softmax_ops();

}  // namespace heed::ops
