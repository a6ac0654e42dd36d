#include "heed/kernels/attention_scratch.h"

#include <algorithm>

namespace heed::kernels {
namespace {

// Aligned to a cache line.
void take(int64_t& at, int64_t& next, int64_t floats) {
  at = next;
  next += (floats + 15) / 16 * 16;
}

}  // namespace

AttentionLayout attention_layout(const Attention& a, bool backward) {
  AttentionLayout l;
  l.tile = attention_tile(a.K);
  l.rows = a.K + 2 * l.tile;
  const bool relative = a.R > 0;
  take(l.queries, l.per_worker, l.tile * a.E);
  take(l.queries_t, l.per_worker, l.tile * a.E);
  take(l.scores, l.per_worker, l.rows * l.tile);
  take(l.limits, l.per_worker, 5 * l.tile);
  if (relative) {
    take(l.positions, l.per_worker, l.tile * a.E);
    take(l.positions_t, l.per_worker, l.tile * a.E);
    take(l.raw, l.per_worker, l.rows * l.tile);
  }
  if (backward) {
    take(l.dscores, l.per_worker, l.rows * l.tile);
    take(l.dout_t, l.per_worker, l.tile * a.E);
    take(l.dquery, l.per_worker, l.tile * a.E);
    take(l.dposition, l.per_worker, relative ? l.tile * a.E : 0);
  }
  l.total = l.per_worker * a.workers;
  if (!backward) return l;
  const int64_t parts = attention_parts(a.B, a.H, a.K);
  take(l.partial_dq, l.total, parts > 1 ? parts * a.B * a.T * a.H * a.E : 0);
  take(l.partial_dr, l.total, relative ? a.B * a.R * a.H * a.E * parts : 0);
  take(l.partial_bias, l.total, relative ? a.B * a.H * parts * 2 * a.E : 0);
  return l;
}

int64_t attention_scratch(const Attention& shape, bool backward) {
  return attention_layout(shape, backward).total;
}

AttentionDecodeLayout attention_decode_layout(const Attention& a) {
  AttentionDecodeLayout l;
  // Enough for many threads, but a part should have more to read than to leave behind.
  l.parts = std::min((a.K + kDecodeBlock - 1) / kDecodeBlock, std::max<int64_t>(1, 32 / a.B));
  const int64_t width = a.H * a.E, rows = a.H * a.T;
  take(l.queries, l.per_worker, a.T * width);
  take(l.scores, l.per_worker, rows * kDecodeBlock);
  if (a.R > 0) {
    take(l.positions, l.per_worker, a.T * width);
    take(l.raw, l.per_worker, rows * kDecodeRawStride);
  }
  l.floats = l.per_worker * a.workers;
  take(l.sums, l.floats, a.B * l.parts * a.T * width);
  take(l.most, l.floats, a.B * l.parts * rows);
  take(l.total, l.floats, a.B * l.parts * rows);
  return l;
}

int64_t attention_decode_scratch(const Attention& shape) { return attention_decode_layout(shape).floats; }

}  // namespace heed::kernels
