// The layout of the scratch memory of attention, for sizing it (attention_scratch) and for using it.
#pragma once

#include "heed/kernels/attention.h"

namespace heed::kernels {

// Offsets in floats. Per worker, for one tile of `tile` queries:
struct AttentionLayout {
  int64_t tile = 0;
  int64_t rows = 0;       // of scores: keys, and a margin of a tile above and below for skewed reads
  int64_t queries = 0;    // (q + u) / sqrt(E), [tile, E]
  int64_t queries_t = 0;  // the same transposed, [E, tile]
  int64_t positions = 0;  // (q + w) / sqrt(E), [tile, E]
  int64_t positions_t = 0;
  int64_t scores = 0;     // [rows, tile]
  int64_t raw = 0;        // q . r by distance, [rows, tile]
  int64_t dscores = 0;    // [rows, tile]
  int64_t dout_t = 0;     // [E, tile]
  int64_t dquery = 0;     // [tile, E], content term
  int64_t dposition = 0;  // [tile, E], position term
  int64_t limits = 0;     // lo, hi, max, sum, dot: five rows of `tile`
  int64_t per_worker = 0;
  // Shared, for the backward pass:
  int64_t partial_dq = 0;    // [parts, B, T, H*E] when there is more than one part
  int64_t partial_dr = 0;    // [B, parts, R, H*E]
  int64_t partial_bias = 0;  // [B, H, parts, 2, E]
  int64_t total = 0;
};

// Not inline: kernels compiled for one instruction set must not emit a copy that others may link to.
AttentionLayout attention_layout(const Attention& a, bool backward);

// The same for attention_decode: keys are processed in blocks and split into parts.
inline constexpr int64_t kDecodeBlock = 64;
// A block's scores by distance: there are up to kDecodeQueries - 1 more, and vectors read past the end.
inline constexpr int64_t kDecodeRawStride = kDecodeBlock + 16;

struct AttentionDecodeLayout {
  int64_t parts = 0;
  // Per worker:
  int64_t queries = 0;    // (q + u) / sqrt(E), [T, H*E]
  int64_t positions = 0;  // (q + w) / sqrt(E), [T, H*E]
  int64_t scores = 0;     // [H, T, kDecodeBlock]
  int64_t raw = 0;        // q . r by distance, [H, T, kDecodeRawStride]
  int64_t per_worker = 0;
  // Shared: the results of the parts, to be combined.
  int64_t sums = 0;   // [B, parts, T, H*E]
  int64_t most = 0;   // [B, parts, H, T]
  int64_t total = 0;  // [B, parts, H, T]
  int64_t floats = 0;
};
AttentionDecodeLayout attention_decode_layout(const Attention& a);

}  // namespace heed::kernels
