#pragma once

#include "heed/kernels/attention.h"
#include "heed/ops/define.h"

namespace heed::ops {

struct AttentionSettings {
  int64_t heads = 1;
  int64_t head_width = 0;
  AttentionMask mask = AttentionMask::kCausal;
  int64_t window = -1;
  SameLength same_length = SameLength::kNone;
  int64_t memory_length = 0;
  int64_t q_offset = 0, k_offset = 0, v_offset = 0;
  double dropout = 0;
  int64_t stream = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("heads", heads, "number of heads H");
    field("head_width", head_width, "columns of one head, E");
    field("mask", mask, "causal, or full for encoders and cross-attention");
    field("window", window, "keys seen before the query itself, -1 for all");
    field("same_length", same_length, "Transformer-XL's evaluation mask, in either convention");
    field("memory_length", memory_length, "configured memory length, for same_length");
    field("q_offset", q_offset, "first column of the queries in their value");
    field("k_offset", k_offset, "first column of the keys in their value");
    field("v_offset", v_offset, "first column of the values in theirs");
    field("dropout", dropout, "share of probabilities dropped");
    field("stream", stream, "number of this op's stream of random numbers");
  }
};

struct AttentionInputs {
  ValueId q, k, v;           // [B, T, .], [B, K, .], [B, K, .]; may be one value with different offsets
  ValueId padding = kNone;   // i32 [B, K], 1 where the key is padding
  ValueId relative = kNone;  // [R, H*E], row r projected from distance R-1-r; longer ones must be masked
  ValueId u = kNone;         // [H*E], content bias
  ValueId w = kNone;         // [H*E], position bias (v in the papers)
  // i32 [2]: key index of query 0 (K - T if absent), first key that exists (0 if absent)
  ValueId positions = kNone;
  ValueId rng = kNone;  // i32 [4], for dropout
};

// Softmax attention (kernels/attention.h). Output [B, T, H*E]. A query that sees no key yields 0. With
// positions, k and v may be caches longer than the visible part; whether `relative` has a row for every
// distance is then checked at run time.
ValueId attention(Graph& graph, const AttentionInputs& inputs, AttentionSettings settings);

std::vector<OpEntry> attention_ops();

}  // namespace heed::ops
