#include "heed/kernels/attention.h"

#include "heed/base/threads.h"
#include "heed/kernels/attention_scratch.h"
#include "heed/kernels/tile.h"

namespace heed::kernels::HEED_ISA {
namespace {

HEED_INLINE void fill(float* p, int64_t n, float value) {
  for_vectors(n, [&](int64_t i, int64_t lanes) { store_at(p + i, splat(value), lanes); });
}

// One tile of queries of one head of one sequence, on one thread.
struct TileWork {
  const Attention& a;
  const AttentionLayout& layout;
  float* memory;  // this worker's scratch
  int64_t b, h;
  int64_t begin, count;      // queries
  int64_t from, to;          // keys that at least one of them sees, within the part
  int64_t all_from, all_to;  // keys in [all_from, all_to) are seen by all of them (padding aside)

  float* at(int64_t offset) const { return memory + offset; }
  // Scores start one margin into their buffer; row j is key from + j.
  float* score_row(int64_t j) const { return at(layout.scores) + (layout.tile + j) * layout.tile; }
  float* dscore_row(int64_t j) const { return at(layout.dscores) + (layout.tile + j) * layout.tile; }
  float* limit_row(int row) const { return at(layout.limits) + row * layout.tile; }
  const float* rows_of(const AttentionRows& rows, int64_t row, int64_t per_sequence) const {
    return rows.data + (b * per_sequence + row) * rows.leading + h * a.E;
  }
  const float* key(int64_t j) const { return rows_of(a.k, j, a.K); }
  const float* value(int64_t j) const { return rows_of(a.v, j, a.K); }
  const float* query(int64_t i) const { return rows_of(a.q, i, a.T); }

  // The row of `relative` for the first query of the tile and key `from`.
  int64_t first_relative() const { return a.R - 1 - (a.first_query + begin) + from; }

  // Sets the tile and the keys it sees within [part_from, part_to); false if it sees none.
  bool begin_tile(int64_t first, int64_t part_from, int64_t part_to) {
    begin = first;
    count = smaller(layout.tile, a.T - first);
    float* lo = limit_row(0);
    float* hi = limit_row(1);
    from = a.K, to = 0, all_from = 0, all_to = a.K;
    for (int64_t i = 0; i < layout.tile; ++i) {
      int64_t low = a.K, high = 0;  // lanes beyond the tile see nothing
      if (i < count) {
        const int64_t position = a.first_query + begin + i;
        low = a.first_key;
        if (a.window >= 0) low = larger(low, position - a.window);
        if (a.has_lowest) low = larger(low, a.first_key + begin + i + a.lowest_offset);
        high = a.causal ? smaller(a.K, position + 1) : a.K;
        from = smaller(from, low);
        to = larger(to, high);
      }
      all_from = larger(all_from, low);
      all_to = smaller(all_to, high);
      lo[i] = static_cast<float>(low);  // exact: keys are far fewer than 2^24
      hi[i] = static_cast<float>(high);
    }
    from = larger(from, part_from);
    to = smaller(to, part_to);
    return from < to;
  }

  bool is_padding(int64_t j) const { return a.padding && a.padding[b * a.K + j]; }
  bool seen_by_all(int64_t j) const {
    return count == layout.tile && j >= all_from && j < all_to && !is_padding(j);
  }
  // The lanes of vector `lane0` that see key j.
  HEED_INLINE IVec seen(const TileWork& t, int64_t j, int64_t lane0) {
    const float key_index = static_cast<float>(j);
    const IVec inside =
        (load(t.limit_row(0) + lane0) <= key_index) & (load(t.limit_row(1) + lane0) > key_index);
    return t.is_padding(j) ? IVec{} : inside;
  }

  // rows = (q + bias) / sqrt(E), and its transpose.
  void prepare_queries(const float* bias, float* rows, float* transposed) const {
    const float factor = 1.f / __builtin_sqrtf(static_cast<float>(a.E));
    for (int64_t i = 0; i < count; ++i) {
      const float* q = query(begin + i);
      for_vectors(a.E, [&](int64_t c, int64_t lanes) {
        Vec x = load_at(q + c, lanes);
        if (bias) x += load_at(bias + h * a.E + c, lanes);
        store_at(rows + i * a.E + c, x * factor, lanes);
      });
    }
    transpose(count, a.E, rows, a.E, transposed, layout.tile);
    for (int64_t lane = (count + kLanes - 1) / kLanes * kLanes; lane < layout.tile; lane += kLanes) {
      for (int64_t c = 0; c < a.E; ++c) store(transposed + c * layout.tile + lane, Vec{});
    }
  }

  // scores[j, i] for keys from..to, masked ones not yet marked.
  void compute_scores() const {
    const int64_t n = to - from, tile = layout.tile;
    prepare_queries(a.u, at(layout.queries), at(layout.queries_t));
    tile_product(n, tile, a.E, {key(from), a.k.leading, 1}, at(layout.queries_t), tile, score_row(0), tile,
                 false);
    if (!a.relative) return;
    prepare_queries(a.w, at(layout.positions), at(layout.positions_t));
    // raw[k, i] = r_k . (q_i + w) for the rows of distances this tile needs. Query i and key from + j use
    // row first_relative() + j - i: one lane further is one row back, a gather along the diagonal.
    const int64_t low = larger(0, first_relative() - (tile - 1)), high = smaller(a.R, first_relative() + n);
    float* raw = at(layout.raw);
    const int64_t raw_start = first_relative() - (tile - 1);  // row of `relative` at raw row 0
    if (low < high) {
      tile_product(high - low, tile, a.E, {a.relative + low * a.H * a.E + h * a.E, a.H * a.E, 1},
                   at(layout.positions_t), tile, raw + (low - raw_start) * tile, tile, false);
    }
    const IVec lanes = lane_numbers();
    for (int64_t j = 0; j < n; ++j) {
      float* score = score_row(j);
      for (int64_t i = 0; i < tile; i += kLanes) {
        const IVec diagonal = splat_int(static_cast<int32_t>((j + tile - 1 - i) * tile + i)) -
                              lanes * static_cast<int32_t>(tile - 1);
        store(score + i, load(score + i) + gather(raw, diagonal));
      }
    }
  }

  // Kept or dropped, scaled: element ((b H + h) K + j) T' + i of the stream, T' = T rounded up to 64, so that
  // 64 queries share the words of 16 counters (the rule of kernels/dropout.h).
  HEED_INLINE Vec dropout_factor(const TileWork& t, int64_t j, int64_t lane0) {
    const int64_t padded = (t.a.T + 63) / 64 * 64;
    const int64_t element = ((t.b * t.a.H + t.h) * t.a.K + j) * padded + t.begin + lane0;
    const auto counter = static_cast<uint32_t>(element / 64 * 16 + element % 16);
    const RandomWords words = vphilox((UVec)lane_numbers() + counter, t.a.stream,
                                      static_cast<uint32_t>(t.a.rng[2]), static_cast<uint32_t>(t.a.rng[3]),
                                      static_cast<uint32_t>(t.a.rng[0]), static_cast<uint32_t>(t.a.rng[1]));
    const auto threshold = static_cast<uint32_t>(static_cast<double>(t.a.dropout) * 4294967296.0);
    const UVec word = words.word[element / 16 % 4];
    return select((IVec)(word >= threshold), splat(1.f / (1.f - t.a.dropout)), splat(0.f));
  }
};

// Scores become unnormalised probabilities; the rows of limits 2 and 3 become each query's maximum and sum.
HEED_INLINE void softmax_columns(const TileWork& t) {
  const int64_t n = t.to - t.from, tile = t.layout.tile;
  const float infinity = __builtin_inff();
  for (int64_t i = 0; i < tile; i += kLanes) {
    Vec most = splat(-infinity);
    for (int64_t j = 0; j < n; ++j) {
      float* score = t.score_row(j) + i;
      Vec s = load(score);
      if (!t.seen_by_all(t.from + j)) {
        s = select(TileWork::seen(t, t.from + j, i), s, splat(-infinity));
        store(score, s);
      }
      most = vmax(most, s);
    }
    most = select(most == -infinity, splat(0.f), most);  // nothing seen: every exponential below is 0
    Vec total{};
    for (int64_t j = 0; j < n; ++j) {
      float* score = t.score_row(j) + i;
      Vec p = vexp(load(score) - most);
      total += p;
      if (t.a.dropout > 0) p *= TileWork::dropout_factor(t, t.from + j, i);
      store(score, p);
    }
    store(t.limit_row(2) + i, most);
    store(t.limit_row(3) + i, total);
  }
}

void forward_tile(const TileWork& t) {
  const Attention& a = t.a;
  t.compute_scores();
  softmax_columns(t);
  float* out = a.out.data + (t.b * a.T + t.begin) * a.out.leading + t.h * a.E;
  // out[i, :] = sum_j p[j, i] v_j
  tile_product(t.count, a.E, t.to - t.from, {t.score_row(0), 1, t.layout.tile}, t.value(t.from), a.v.leading,
               out, a.out.leading, false);
  for (int64_t i = 0; i < t.count; ++i) {
    const float total = t.limit_row(3)[i];
    const float factor = total == 0 ? 0.f : 1.f / total;
    for_vectors(a.E, [&](int64_t c, int64_t lanes) {
      store_at(out + i * a.out.leading + c, factor * load_at(out + i * a.out.leading + c, lanes), lanes);
    });
    a.lse[(t.b * a.H + t.h) * a.T + t.begin + i] =
        total == 0 ? -__builtin_inff() : t.limit_row(2)[i] + __builtin_logf(total);
  }
}

void empty_tile(const TileWork& t) {
  for (int64_t i = 0; i < t.count; ++i) {
    fill(t.a.out.data + (t.b * t.a.T + t.begin + i) * t.a.out.leading + t.h * t.a.E, t.a.E, 0.f);
    t.a.lse[(t.b * t.a.H + t.h) * t.a.T + t.begin + i] = -__builtin_inff();
  }
}

// Nanoseconds of the products, to choose the number of threads.
double work_of(const Attention& a, double products) {
  return products * 2.0 * static_cast<double>(a.B * a.H) * static_cast<double>(a.T * a.K) *
         static_cast<double>(a.E) / 60;
}

// Gradients of one tile by its keys within the part. dk and dv are added to; dq is written.
struct BackwardTile {
  const AttentionBackward& g;
  const TileWork& t;
  float* dq;  // first row of the tile
  int64_t dq_leading;
  float* drelative;  // [R, .] of this sequence and part, or null
  float* dbias;      // [2, E]: du and dw of this head and part

  void run() const {
    const Attention& a = g.forward;
    const int64_t n = t.to - t.from, tile = t.layout.tile;
    t.compute_scores();
    const float* dout = g.dout.data + (t.b * a.T + t.begin) * g.dout.leading + t.h * a.E;
    transpose(t.count, a.E, dout, g.dout.leading, t.at(t.layout.dout_t), tile);
    for (int64_t lane = (t.count + kLanes - 1) / kLanes * kLanes; lane < tile; lane += kLanes) {
      for (int64_t c = 0; c < a.E; ++c) store(t.at(t.layout.dout_t) + c * tile + lane, Vec{});
    }
    // dp[j, i] = v_j . dout_i
    tile_product(n, tile, a.E, {t.value(t.from), a.v.leading, 1}, t.at(t.layout.dout_t), tile,
                 t.dscore_row(0), tile, false);
    row_dots(dout);
    score_gradients();
    float* dv = g.dv.data + (t.b * a.K + t.from) * g.dv.leading + t.h * a.E;
    float* dk = g.dk.data + (t.b * a.K + t.from) * g.dk.leading + t.h * a.E;
    tile_product(n, a.E, t.count, {t.score_row(0), tile, 1}, dout, g.dout.leading, dv, g.dv.leading, true);
    tile_product(n, a.E, t.count, {t.dscore_row(0), tile, 1}, t.at(t.layout.queries), a.E, dk, g.dk.leading,
                 true);
    float* content = t.at(t.layout.dquery);
    tile_product(t.count, a.E, n, {t.dscore_row(0), 1, tile}, t.key(t.from), a.k.leading, content, a.E,
                 false);
    if (a.relative) relative_gradients();
    write_dq(content);
  }

  // limits row 4: dout_i . out_i, which is sum_j p dp of the whole row.
  void row_dots(const float* dout) const {
    const Attention& a = g.forward;
    for (int64_t i = 0; i < t.layout.tile; ++i) {
      float dot = 0;
      if (i < t.count) {
        const float* out = a.out.data + (t.b * a.T + t.begin + i) * a.out.leading + t.h * a.E;
        Vec sums{};
        for_vectors(a.E, [&](int64_t c, int64_t lanes) {
          sums += load_at(out + c, lanes) * load_at(dout + i * g.dout.leading + c, lanes);
        });
        dot = sum(sums);
      }
      t.limit_row(4)[i] = dot;
      const float lse = i < t.count ? a.lse[(t.b * a.H + t.h) * a.T + t.begin + i] : 0.f;
      t.limit_row(2)[i] = lse == -__builtin_inff() ? 0.f : lse;
    }
  }

  // scores -> dropped-out probabilities, dp -> dscores = p (dp - dot), 0 where masked. The margins that the
  // skewed reads touch are 0.
  void score_gradients() const {
    const Attention& a = g.forward;
    const int64_t n = t.to - t.from, tile = t.layout.tile;
    for (int64_t j = 0; j < n; ++j) {
      const bool all = t.seen_by_all(t.from + j);
      for (int64_t i = 0; i < tile; i += kLanes) {
        Vec p = vexp(load(t.score_row(j) + i) - load(t.limit_row(2) + i));
        if (!all) p = select(TileWork::seen(t, t.from + j, i), p, splat(0.f));
        Vec dp = load(t.dscore_row(j) + i);
        Vec dropped = p;
        if (a.dropout > 0) {
          const Vec factor = TileWork::dropout_factor(t, t.from + j, i);
          dropped *= factor;
          dp *= factor;
        }
        store(t.score_row(j) + i, dropped);
        Vec ds = p * (dp - load(t.limit_row(4) + i));
        if (!all) ds = select(TileWork::seen(t, t.from + j, i), ds, splat(0.f));
        store(t.dscore_row(j) + i, ds);
      }
    }
    if (a.relative) {
      fill(t.dscore_row(-tile), tile * tile, 0.f);
      fill(t.dscore_row(n), tile * tile, 0.f);
    }
  }

  // dr_k = sum_i ds[j(k, i), i] (q_i + w) and dq_i += sum_k ds[j(k, i), i] r_k with j(k, i) = k -
  // first_relative + i: reading the dscores with a row stride of tile and a lane stride of tile + 1.
  void relative_gradients() const {
    const Attention& a = g.forward;
    const int64_t n = t.to - t.from, tile = t.layout.tile, width = a.H * a.E;
    const int64_t low = larger(0, t.first_relative() - (t.count - 1)),
                  high = smaller(a.R, t.first_relative() + n);
    if (low >= high) return fill(t.at(t.layout.dposition), tile * a.E, 0.f);
    const float* skewed = t.dscore_row(low - t.first_relative());
    tile_product(high - low, a.E, t.count, {skewed, tile, tile + 1}, t.at(t.layout.positions), a.E,
                 drelative + low * width + t.h * a.E, width, true);
    tile_product(t.count, a.E, high - low, {skewed, tile + 1, tile}, a.relative + low * width + t.h * a.E,
                 width, t.at(t.layout.dposition), a.E, false);
  }

  void write_dq(const float* content) const {
    const Attention& a = g.forward;
    const float factor = 1.f / __builtin_sqrtf(static_cast<float>(a.E));
    const float* position = a.relative ? t.at(t.layout.dposition) : nullptr;
    for (int64_t i = 0; i < t.count; ++i) {
      for_vectors(a.E, [&](int64_t c, int64_t lanes) {
        Vec d = factor * load_at(content + i * a.E + c, lanes);
        if (position) {
          const Vec dw = factor * load_at(position + i * a.E + c, lanes);
          store_at(dbias + c, load_at(dbias + c, lanes) + d, lanes);
          store_at(dbias + a.E + c, load_at(dbias + a.E + c, lanes) + dw, lanes);
          d += dw;
        }
        store_at(dq + i * dq_leading + c, d, lanes);
      });
    }
  }
};

// Sums the partial dq, drelative, du and dw of the parts, in fixed order.
void reduce(const AttentionBackward& g, const AttentionLayout& layout, int64_t parts) {
  const Attention& a = g.forward;
  const int64_t width = a.H * a.E;
  if (parts > 1) {
    parallel_for(
        a.B * a.T, threads_for(0.2 * static_cast<double>(a.B * a.T * width * parts)), [&](int64_t row) {
          for_vectors(width, [&](int64_t c, int64_t lanes) {
            Vec total{};
            for (int64_t part = 0; part < parts; ++part)
              total += load_at(a.scratch + layout.partial_dq + (part * a.B * a.T + row) * width + c, lanes);
            store_at(g.dq.data + row * g.dq.leading + c, total, lanes);
          });
        });
  }
  if (!a.relative) return;
  parallel_for(a.R, threads_for(0.2 * static_cast<double>(a.B * a.R * width * parts)), [&](int64_t row) {
    for_vectors(width, [&](int64_t c, int64_t lanes) {
      Vec total{};
      for (int64_t part = 0; part < a.B * parts; ++part)
        total += load_at(a.scratch + layout.partial_dr + (part * a.R + row) * width + c, lanes);
      store_at(g.drelative + row * width + c, total, lanes);
    });
  });
  for (int64_t h = 0; h < a.H; ++h) {
    for (int64_t c = 0; c < a.E; ++c) {
      float du = 0, dw = 0;
      for (int64_t b = 0; b < a.B; ++b) {
        for (int64_t part = 0; part < parts; ++part) {
          const float* bias = a.scratch + layout.partial_bias + ((b * a.H + h) * parts + part) * 2 * a.E;
          du += bias[c];
          dw += bias[a.E + c];
        }
      }
      if (g.du) g.du[h * a.E + c] = du;
      if (g.dw) g.dw[h * a.E + c] = dw;
    }
  }
}

}  // namespace

void attention(const Attention& a) {
  const AttentionLayout layout = attention_layout(a, false);
  // Rows are independent, so queries may be split among the threads in any way.
  const int64_t tiles = (a.T + layout.tile - 1) / layout.tile;
  const int64_t parts = smaller(tiles, (4 * a.workers + a.B * a.H - 1) / (a.B * a.H));
  const int threads = static_cast<int>(smaller(threads_for(work_of(a, 2)), a.workers));
  parallel_for_workers(a.B * a.H * parts, threads, [&](int64_t item, int worker) {
    const int64_t part = item % parts, head = item / parts;
    TileWork t{a, layout, a.scratch + worker * layout.per_worker, head / a.H, head % a.H, 0, 0, 0, 0, 0, 0};
    // Late queries see more keys: interleaving balances the parts.
    for (int64_t tile = part; tile < tiles; tile += parts) {
      t.begin_tile(tile * layout.tile, 0, a.K) ? forward_tile(t) : empty_tile(t);
    }
  });
}

void attention_backward(const AttentionBackward& g) {
  const Attention& a = g.forward;
  const AttentionLayout layout = attention_layout(a, true);
  const int64_t parts = attention_parts(a.B, a.H, a.K), width = a.H * a.E;
  const int threads = static_cast<int>(smaller(threads_for(work_of(a, 5)), a.workers));
  parallel_for_workers(a.B * a.H * parts, threads, [&](int64_t item, int worker) {
    const int64_t part = item % parts, b = item / parts / a.H, h = item / parts % a.H;
    const int64_t part_from = a.K * part / parts, part_to = a.K * (part + 1) / parts;
    TileWork t{a, layout, a.scratch + worker * layout.per_worker, b, h, 0, 0, 0, 0, 0, 0};
    for (int64_t j = part_from; j < part_to; ++j) {
      fill(g.dk.data + (b * a.K + j) * g.dk.leading + h * a.E, a.E, 0.f);
      fill(g.dv.data + (b * a.K + j) * g.dv.leading + h * a.E, a.E, 0.f);
    }
    float* dr = a.relative ? a.scratch + layout.partial_dr + (b * parts + part) * a.R * width : nullptr;
    for (int64_t r = 0; dr && r < a.R; ++r) fill(dr + r * width + h * a.E, a.E, 0.f);
    float* dbias = a.scratch + layout.partial_bias + ((b * a.H + h) * parts + part) * 2 * a.E;
    if (a.relative) fill(dbias, 2 * a.E, 0.f);
    float* const dq = parts > 1 ? a.scratch + layout.partial_dq + part * a.B * a.T * width : g.dq.data;
    const int64_t dq_leading = parts > 1 ? width : g.dq.leading;
    for (int64_t first = 0; first < a.T; first += layout.tile) {
      float* rows = dq + (b * a.T + first) * dq_leading + h * a.E;
      if (t.begin_tile(first, part_from, part_to)) {
        BackwardTile{g, t, rows, dq_leading, dr, dbias}.run();
      } else {
        for (int64_t i = 0; i < t.count; ++i) fill(rows + i * dq_leading, a.E, 0.f);
      }
    }
  });
  reduce(g, layout, parts);
}

}  // namespace heed::kernels::HEED_ISA
