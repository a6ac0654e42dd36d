#include "heed/kernels/attention_scratch.h"

#include <algorithm>

#include "heed/tensor/carver.h"

namespace heed::kernels {
namespace {

constexpr int64_t kFloat = sizeof(float);

}  // namespace

AttentionLayout attention_layout(const Attention& a, bool backward) {
  AttentionLayout l;
  l.tile = attention_tile(a.K);
  l.rows = a.K + 2 * l.tile;
  const bool relative = a.R > 0;
  Carver worker, all;
  l.queries = worker.place<float>(l.tile * a.E);
  l.queries_t = worker.place<float>(l.tile * a.E);
  l.scores = worker.place<float>(l.rows * l.tile);
  l.limits = worker.place<float>(5 * l.tile);
  if (relative) {
    l.positions = worker.place<float>(l.tile * a.E);
    l.positions_t = worker.place<float>(l.tile * a.E);
    l.raw = worker.place<float>(l.rows * l.tile);
  }
  if (backward) {
    l.dscores = worker.place<float>(l.rows * l.tile);
    l.dout_t = worker.place<float>(l.tile * a.E);
    l.dquery = worker.place<float>(l.tile * a.E);
    l.dposition = worker.place<float>(relative ? l.tile * a.E : 0);
  }
  l.per_worker = worker.bytes() / kFloat;
  all.place<float>(l.per_worker * a.workers);
  l.total = all.bytes() / kFloat;
  if (!backward) return l;
  const int64_t parts = attention_parts(a.B, a.H, a.K);
  l.partial_dq = all.place<float>(parts > 1 ? parts * a.B * a.T * a.H * a.E : 0);
  l.partial_dr = all.place<float>(relative ? a.B * a.R * a.H * a.E * parts : 0);
  l.partial_bias = all.place<float>(relative ? a.B * a.H * parts * 2 * a.E : 0);
  l.total = all.bytes() / kFloat;
  return l;
}

int64_t attention_scratch(const Attention& shape, bool backward) {
  return attention_layout(shape, backward).total;
}

AttentionDecodeLayout attention_decode_layout(const Attention& a) {
  AttentionDecodeLayout l;
  // Enough for many threads, but a part should read more than it writes.
  l.parts = std::min((a.K + kDecodeBlock - 1) / kDecodeBlock, std::max<int64_t>(1, 32 / a.B));
  const int64_t width = a.H * a.E, rows = a.H * a.T;
  Carver worker, all;
  l.queries = worker.place<float>(a.T * width);
  l.scores = worker.place<float>(rows * kDecodeBlock);
  if (a.R > 0) {
    l.positions = worker.place<float>(a.T * width);
    l.raw = worker.place<float>(rows * kDecodeRawStride);
  }
  l.per_worker = worker.bytes() / kFloat;
  all.place<float>(l.per_worker * a.workers);
  l.sums = all.place<float>(a.B * l.parts * a.T * width);
  l.most = all.place<float>(a.B * l.parts * rows);
  l.total = all.place<float>(a.B * l.parts * rows);
  l.floats = all.bytes() / kFloat;
  return l;
}

int64_t attention_decode_scratch(const Attention& shape) { return attention_decode_layout(shape).floats; }

}  // namespace heed::kernels
