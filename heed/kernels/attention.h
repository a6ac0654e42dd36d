// Attention, forward and backward, without ever storing the scores of a layer.
//
//   score(i, j) = ((q_i + u) . k_j + (q_i + w) . r_{distance p+i-j}) / sqrt(E)
//
//   out_i = sum_j dropout(softmax_j(score(i, .))) v_j
//
// The second term exists only with relative positions (Dai and others 2019, section 3.3).
// Query i is at key index p + i and sees keys [lo_i, hi_i) that are not padding. One tile of queries is
// processed at a time. Its scores are kept transposed, [keys, queries]: queries fill the vector lanes, so
// that softmax needs no sums across lanes, and of all the operands only the small tile of queries has to be
// transposed.
#pragma once

#include <cstdint>
#include <utility>

#include "heed/base/fields.h"
#include "heed/kernels/isa.h"

namespace heed {

enum class AttentionMask { kCausal, kFull };
template <>
struct EnumNames<AttentionMask> {
  static constexpr std::pair<AttentionMask, const char*> names[] = {{AttentionMask::kCausal, "causal"},
                                                                    {AttentionMask::kFull, "full"}};
};

// Transformer-XL's evaluation mask: every query sees equally many keys, counted in two ways.
enum class SameLength { kNone, kNv, kOrig };
template <>
struct EnumNames<SameLength> {
  static constexpr std::pair<SameLength, const char*> names[] = {
      {SameLength::kNone, "none"}, {SameLength::kNv, "nv"}, {SameLength::kOrig, "orig"}};
};

namespace kernels {

// Rows of [B, rows, leading]; a head's columns start at data + head * E.
struct AttentionRows {
  float* data = nullptr;
  int64_t leading = 0;
};

struct Attention {
  int64_t B, T, K, H, E;             // batch, queries, keys, heads, head width
  AttentionRows q, k, v;             // [B, T, .], [B, K, .], [B, K, .]
  const int32_t* padding = nullptr;  // [B, K], 1 where a key is padding
  const float* relative = nullptr;   // [R, H*E], row r is distance R-1-r; no query sees a key further away
  int64_t R = 0;
  const float* u = nullptr;  // [H*E], added to q for the content term
  const float* w = nullptr;  // [H*E], added to q for the position term
  bool causal = true;
  int64_t window = -1;      // keys seen before the query itself, or -1
  int64_t first_query = 0;  // p
  int64_t first_key = 0;    // keys before it do not exist (not yet, or no longer)
  bool has_lowest = false;  // same_length: query i sees no key before first_key + i + lowest_offset
  int64_t lowest_offset = 0;
  float dropout = 0;
  uint32_t stream = 0;
  const int32_t* rng = nullptr;  // seed and step, i32[4]
  AttentionRows out;             // [B, T, .]
  float* lse = nullptr;          // [B, H, T]: log of the sum of exponentials, -inf where a query sees nothing
  float* scratch = nullptr;
  int workers = 1;  // how many threads the scratch is for
};
HEED_KERNEL(attention, Attention)

// The same for at most kDecodeQueries queries without dropout (attention_decode.cpp). The scratch is that of
// attention_decode_scratch.
inline constexpr int64_t kDecodeQueries = 4;
HEED_KERNEL(attention_decode, Attention)

struct AttentionBackward {
  Attention forward;  // out and lse as the forward pass left them
  AttentionRows dout;
  AttentionRows dq, dk, dv;    // every head's columns are overwritten
  float* drelative = nullptr;  // [R, H*E]
  float* du = nullptr;         // [H*E]
  float* dw = nullptr;         // [H*E]
};
HEED_KERNEL(attention_backward, AttentionBackward)

// Queries per tile: the scores of a tile should stay in L2.
static inline int64_t attention_tile(int64_t keys) { return keys <= 2048 ? 64 : keys <= 4096 ? 32 : 16; }

// Work is split into (batch, head, part); parts of the keys in the backward pass, so that one long sequence
// with one head still uses all threads. Fixed by the shape alone: sums are the same for any number of
// threads.
static inline int64_t attention_parts(int64_t batch, int64_t heads, int64_t keys) {
  const int64_t wanted = (8 + batch * heads - 1) / (batch * heads);
  const int64_t possible = (keys + 63) / 64;
  return wanted < possible ? wanted : possible;
}

// Floats of scratch.
int64_t attention_scratch(const Attention& shape, bool backward);
int64_t attention_decode_scratch(const Attention& shape);

}  // namespace kernels
}  // namespace heed
