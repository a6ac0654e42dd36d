// Attention for a few queries at a time, as in generation: almost no arithmetic per key, so what matters is
// that keys, values and relative positions are read once and in memory order.
//
// Work is split into parts of the keys, for all heads at once, so that whole rows are read. Within a part one
// block of keys at a time goes through scores, online softmax (Milakov and Gimelshein 2018) and the sum of
// values. The parts are combined in order.
#include "heed/base/threads.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/attention_scratch.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {
namespace {

constexpr int64_t kTogether = 4;  // rows of keys or values read side by side
constexpr float kNothing = -__builtin_inff();

typedef float Quad __attribute__((vector_size(16)));

HEED_INLINE float exp_of(float x) { return vexp(splat(x))[0]; }

HEED_INLINE Quad quarter(Vec v) {
#if defined(__AVX512F__)
  typedef float Half __attribute__((vector_size(32)));
  const Half half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const Vec half = v;
#endif
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) + __builtin_shufflevector(half, half, 4, 5, 6, 7);
}

// The sums of four vectors: adding while transposing takes fewer steps than four sums.
HEED_INLINE Quad four_sums(Vec v0, Vec v1, Vec v2, Vec v3) {
  const Quad a = quarter(v0), b = quarter(v1), c = quarter(v2), d = quarter(v3);
  const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

// Four rows starting at `row`; past the end the last row is repeated, so that every group is complete.
struct Rows {
  const float* at[kTogether];
  HEED_INLINE Rows of(const float* data, int64_t leading, int64_t row, int64_t count) {
    Rows rows;
    for (int64_t r = 0; r < kTogether; ++r) rows.at[r] = data + smaller(row + r, count - 1) * leading;
    return rows;
  }
  // Prefetches one address in each row. The hardware prefetchers do not follow several rows with gaps between
  // them; requests to L2 do not use up the few outstanding requests of L1.
  HEED_INLINE void request(const Rows& rows, int64_t column) {
    for (int64_t r = 0; r < kTogether; ++r) __builtin_prefetch(rows.at[r] + column, 0, 2);
  }
};

// What the queries see: query i keys [low[i], high[i]), all of them together [from, to).
struct Sight {
  int64_t low[kDecodeQueries], high[kDecodeQueries], from, to;
};
HEED_INLINE Sight sight_of(const Attention& a) {
  Sight s{};
  s.from = a.K;
  for (int64_t i = 0; i < a.T; ++i) {
    const int64_t position = a.first_query + i;
    s.low[i] = a.first_key;
    if (a.window >= 0) s.low[i] = larger(s.low[i], position - a.window);
    if (a.has_lowest) s.low[i] = larger(s.low[i], a.first_key + i + a.lowest_offset);
    s.high[i] = a.causal ? smaller(a.K, position + 1) : a.K;
    s.from = smaller(s.from, s.low[i]);
    s.to = larger(s.to, s.high[i]);
  }
  return s;
}

// One part of the keys of one sequence, on one thread.
struct PartWork {
  const Attention& a;
  const AttentionDecodeLayout& l;
  const Sight& sight;
  float* memory;  // this worker's
  float* sums;    // [T, H*E]: values so far
  float* most;    // [H, T]: maximum so far
  float* total;   // [H, T]: sum of exponentials so far
  int64_t b;

  // (q + bias) / sqrt(E)
  void prepare_queries(const float* bias, float* to) const {
    const float factor = 1.f / __builtin_sqrtf(static_cast<float>(a.E));
    const int64_t width = a.H * a.E;
    for (int64_t i = 0; i < a.T; ++i) {
      const float* q = a.q.data + (b * a.T + i) * a.q.leading;
      for_vectors(width, [&](int64_t c, int64_t lanes) {
        Vec x = load_at(q + c, lanes);
        if (bias) x += load_at(bias + c, lanes);
        store_at(to + i * width + c, x * factor, lanes);
      });
    }
  }

  // to[h, i, j] = row j . query i of head h, `stride` between the queries. Writes up to the next multiple of
  // kTogether.
  void dots(const float* queries, const float* data, int64_t leading, int64_t count, float* to,
            int64_t stride) const {
    const int64_t width = a.H * a.E;
    for (int64_t j = 0; j < count; j += kTogether) {
      const Rows rows = Rows::of(data, leading, j, count);
      for (int64_t h = 0; h < a.H; ++h) {
        for (int64_t i = 0; i < a.T; ++i) {
          const float* query = queries + i * width + h * a.E;
          const int64_t first = h * a.E;
          Vec s0{}, s1{}, s2{}, s3{};
          for_vectors(a.E, [&](int64_t c, int64_t lanes) {
            if (i == 0) Rows::request(rows, first + c + kTogether * leading);
            const Vec q = load_at(query + c, lanes);
            s0 += q * load_at(rows.at[0] + first + c, lanes);
            s1 += q * load_at(rows.at[1] + first + c, lanes);
            s2 += q * load_at(rows.at[2] + first + c, lanes);
            s3 += q * load_at(rows.at[3] + first + c, lanes);
          });
          const Quad four = four_sums(s0, s1, s2, s3);
          __builtin_memcpy(to + (h * a.T + i) * stride + j, &four, sizeof four);
        }
      }
    }
  }

  // raw[h, i, x] for the rows of `relative` that keys from `key` on need; query i and key + j use
  // x = j + T - 1 - i. Missing rows belong to masked pairs.
  void relative_dots(int64_t key, int64_t count) const {
    const int64_t row = a.R - 1 - (a.first_query + a.T - 1) + key;
    const int64_t low = larger(0, row), high = smaller(a.R, row + count + a.T - 1);
    if (low >= high) return;
    dots(memory + l.positions, a.relative + low * a.H * a.E, a.H * a.E, high - low,
         memory + l.raw + (low - row), kDecodeRawStride);
  }

  // Scores of keys [key, key + count) become exponentials, 0 where masked and up to a complete group.
  void softmax(int64_t h, int64_t i, int64_t key, int64_t count) const {
    float* score = memory + l.scores + (h * a.T + i) * kDecodeBlock;
    const float* raw = memory + l.raw + (h * a.T + i) * kDecodeRawStride + a.T - 1 - i;
    const auto low = static_cast<int32_t>(larger(0, sight.low[i] - key));
    const auto high = static_cast<int32_t>(larger(0, smaller(count, sight.high[i] - key)));
    Vec largest = splat(kNothing);
    for (int64_t j = 0; j < count; j += kLanes) {
      const IVec number = lane_numbers() + static_cast<int32_t>(j);
      IVec seen = (number >= low) & (number < high);
      if (a.padding) {
        const float* bits = reinterpret_cast<const float*>(a.padding + b * a.K + key + j);
        seen &= (IVec)load_at(bits, smaller(kLanes, count - j)) == 0;
      }
      Vec s = load(score + j);
      if (a.relative) s += load(raw + j);
      s = select(seen, s, splat(kNothing));
      store(score + j, s);
      largest = vmax(largest, s);
    }
    float &most_so_far = most[h * a.T + i], &total_so_far = total[h * a.T + i];
    const float before = most_so_far, here = maximum(largest), now = before > here ? before : here;
    const float base = now == kNothing ? 0.f : now;  // nothing seen: every exponential below is 0
    Vec added{};
    for (int64_t j = 0; j < count; j += kLanes) {
      const Vec p = vexp(load(score + j) - base);
      store(score + j, p);
      added += p;
    }
    if (now != before) {
      const float factor = exp_of(before - base);
      total_so_far *= factor;
      float* mine = sums + i * a.H * a.E + h * a.E;
      for_vectors(a.E, [&](int64_t c, int64_t lanes) {
        store_at(mine + c, factor * load_at(mine + c, lanes), lanes);
      });
    }
    total_so_far += sum(added);
    most_so_far = now;
  }

  // sums[i, :] += p[h, i, j] v_j
  void add_values(const float* values, int64_t count) const {
    const int64_t width = a.H * a.E;
    for (int64_t j = 0; j < count; j += kTogether) {
      const Rows rows = Rows::of(values, a.v.leading, j, count);
      for (int64_t h = 0; h < a.H; ++h) {
        for (int64_t i = 0; i < a.T; ++i) {
          const float* p = memory + l.scores + (h * a.T + i) * kDecodeBlock + j;
          const Vec p0 = splat(p[0]), p1 = splat(p[1]), p2 = splat(p[2]), p3 = splat(p[3]);
          const int64_t first = h * a.E;
          float* mine = sums + i * width + first;
          for_vectors(a.E, [&](int64_t c, int64_t lanes) {
            if (i == 0) Rows::request(rows, first + c + kTogether * a.v.leading);
            Vec x = load_at(mine + c, lanes);
            x += p0 * load_at(rows.at[0] + first + c, lanes);
            x += p1 * load_at(rows.at[1] + first + c, lanes);
            x += p2 * load_at(rows.at[2] + first + c, lanes);
            x += p3 * load_at(rows.at[3] + first + c, lanes);
            store_at(mine + c, x, lanes);
          });
        }
      }
    }
  }

  void run(int64_t from, int64_t to) const {
    for_vectors(a.T * a.H * a.E, [&](int64_t c, int64_t lanes) { store_at(sums + c, Vec{}, lanes); });
    for (int64_t i = 0; i < a.T * a.H; ++i) most[i] = kNothing, total[i] = 0;
    prepare_queries(a.u, memory + l.queries);
    if (a.relative) prepare_queries(a.w, memory + l.positions);
    for (int64_t key = from; key < to; key += kDecodeBlock) {
      const int64_t count = smaller(kDecodeBlock, to - key);
      dots(memory + l.queries, a.k.data + (b * a.K + key) * a.k.leading, a.k.leading, count,
           memory + l.scores, kDecodeBlock);
      if (a.relative) relative_dots(key, count);
      for (int64_t h = 0; h < a.H; ++h) {
        for (int64_t i = 0; i < a.T; ++i) softmax(h, i, key, count);
      }
      add_values(a.v.data + (b * a.K + key) * a.v.leading, count);
    }
  }
};

// out and lse of one head of one query from its `parts`.
void merge(const Attention& a, const AttentionDecodeLayout& l, int64_t b, int64_t h, int64_t i,
           int64_t parts) {
  const float* most = a.scratch + l.most + b * l.parts * a.H * a.T + h * a.T + i;
  const float* totals = a.scratch + l.total + b * l.parts * a.H * a.T + h * a.T + i;
  const float* sums = a.scratch + l.sums + (b * l.parts * a.T + i) * a.H * a.E + h * a.E;
  float* out = a.out.data + (b * a.T + i) * a.out.leading + h * a.E;
  float base = kNothing, total = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const float here = most[part * a.H * a.T];
    base = here > base ? here : base;
  }
  if (base == kNothing) base = 0;
  for_vectors(a.E, [&](int64_t c, int64_t lanes) { store_at(out + c, Vec{}, lanes); });
  for (int64_t part = 0; part < parts; ++part) {
    const float weight = exp_of(most[part * a.H * a.T] - base);
    total += weight * totals[part * a.H * a.T];
    for_vectors(a.E, [&](int64_t c, int64_t lanes) {
      const Vec x = load_at(sums + part * a.T * a.H * a.E + c, lanes);
      store_at(out + c, load_at(out + c, lanes) + weight * x, lanes);
    });
  }
  const float factor = total == 0 ? 0.f : 1.f / total;
  for_vectors(a.E,
              [&](int64_t c, int64_t lanes) { store_at(out + c, factor * load_at(out + c, lanes), lanes); });
  a.lse[(b * a.H + h) * a.T + i] = total == 0 ? kNothing : base + __builtin_logf(total);
}

}  // namespace

void attention_decode(const Attention& a) {
  const AttentionDecodeLayout l = attention_decode_layout(a);
  const Sight sight = sight_of(a);
  // Splits the visible keys into as many parts as the shape allows.
  const int64_t seen = larger(0, sight.to - sight.from);
  const int64_t parts = smaller(l.parts, (seen + kDecodeBlock - 1) / kDecodeBlock);
  const double nanoseconds = static_cast<double>(a.B * seen * a.H * a.E) * (a.relative ? 1.5 : 1);
  const int threads = static_cast<int>(smaller(threads_for(nanoseconds), a.workers));
  parallel_for_workers(a.B * parts, threads, [&](int64_t item, int worker) {
    const int64_t b = item / parts, part = item % parts, slot = b * l.parts + part;
    const PartWork work{a,
                        l,
                        sight,
                        a.scratch + worker * l.per_worker,
                        a.scratch + l.sums + slot * a.T * a.H * a.E,
                        a.scratch + l.most + slot * a.H * a.T,
                        a.scratch + l.total + slot * a.H * a.T,
                        b};
    work.run(sight.from + seen * part / parts, sight.from + seen * (part + 1) / parts);
  });
  const int64_t rows = a.B * a.H * a.T;
  parallel_for(rows, threads_for(0.2 * static_cast<double>(rows * parts * a.E)),
               [&](int64_t row) { merge(a, l, row / a.T / a.H, row / a.T % a.H, row % a.T, parts); });
}

}  // namespace heed::kernels::HEED_ISA
