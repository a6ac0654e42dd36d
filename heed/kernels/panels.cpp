#include "heed/kernels/panels.h"

#include "heed/base/threads.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/tile.h"

namespace heed::kernels::HEED_ISA {
namespace {

constexpr int64_t kWidth = kPanelWidth;
constexpr int64_t kDepth = 768;  // rows of a panel worked on at a time: 192 KiB, a part of L2
constexpr int64_t kRows = 192;   // rows of x per block, for the same reason

// For a few rows most time is spent reading the weight, so it is streamed once, whole rows of a panel at a
// time: the hardware prefetcher follows. Rows of x whose sums do not fit into registers share a section of
// the panel that stays in L1.
constexpr int64_t kFewRows = 8;
constexpr int64_t kStretch = 32;
constexpr int kVectors = kWidth / kLanes;
#if defined(__AVX512F__)
constexpr int kTogether = 6;
#else
constexpr int kTogether = 1;
#endif

// sums[R, kWidth] += x[R, depth] panel[depth, kWidth]
template <int R>
HEED_INLINE void add_product(int64_t depth, const float* x, int64_t leading, const float* panel,
                             float* sums) {
  Vec s[R][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) s[r][v] = load(sums + r * kWidth + v * kLanes);
  }
  for (int64_t k = 0; k < depth; ++k, panel += kWidth) {
    Vec row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = load(panel + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec factor = splat(x[r * leading + k]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) s[r][v] += factor * row[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store(sums + r * kWidth + v * kLanes, s[r][v]);
  }
}

// The same for min(R, rows) rows.
template <int R>
HEED_INLINE void add_rows(int64_t rows, int64_t depth, const float* x, int64_t leading, const float* panel,
                          float* sums) {
  if (rows >= R) return add_product<R>(depth, x, leading, panel, sums);
  if constexpr (R > 1) add_rows<R - 1>(rows, depth, x, leading, panel, sums);
}

// y[:, columns from `first` on] (+)= x panel. Each sum runs from the first row of the panel to the last,
// whatever the number of rows.
void few_rows(const PanelProduct& p, const float* panel, int64_t first, int64_t columns, bool accumulate) {
  float sums[kFewRows * kWidth] = {};
  const int64_t stretch = p.rows <= kTogether ? larger(1, p.in) : kStretch;
  for (int64_t k = 0; k < p.in; k += stretch) {
    for (int64_t r = 0; r < p.rows; r += kTogether) {
      add_rows<kTogether>(p.rows - r, smaller(stretch, p.in - k), p.x + r * p.in + k, p.in,
                          panel + k * kWidth, sums + r * kWidth);
    }
  }
  for (int64_t r = 0; r < p.rows; ++r) {
    float* y = p.y + r * p.out + first;
    for_vectors(columns, [&](int64_t j, int64_t lanes) {
      const Vec product = load(sums + r * kWidth + j);
      store_at(y + j, accumulate ? load_at(y + j, lanes) + product : product, lanes);
    });
  }
}

void many_rows(const PanelProduct& p, int64_t row, int64_t rows, const float* panel, int64_t first,
               int64_t columns, bool accumulate) {
  for (int64_t k = 0; k < p.in; k += kDepth) {
    tile_product(rows, columns, smaller(kDepth, p.in - k), {p.x + row * p.in + k, p.in, 1},
                 panel + k * kWidth, kWidth, p.y + row * p.out + first, p.out, k > 0 || accumulate);
  }
}

}  // namespace

void pack_panels(const PackPanels& p) {
  const int64_t rows = p.rows > 0 ? p.rows : (p.transposed ? p.out : p.in) - p.first;
  const int64_t out = p.transposed ? rows : p.out, in = p.transposed ? p.in : rows;
  float* panels = p.panels + p.first * (p.transposed ? p.in : kWidth);
  parallel_for(panel_count(out), threads_for(0.5 * static_cast<double>(in * out)), [&](int64_t panel) {
    const int64_t first = panel * kWidth, columns = smaller(kWidth, out - first);
    float* to = panels + panel * p.in * kWidth;
    if (p.transposed) {
      if (columns < kWidth) {
        for (int64_t i = 0; i < p.in * kWidth; ++i) to[i] = 0;
      }
      return transpose(columns, p.in, p.weight + first * p.in, p.in, to, kWidth);
    }
    for (int64_t k = 0; k < in; ++k) {
      for (int64_t j = 0; j < kWidth; j += kLanes) {
        store(to + k * kWidth + j,
              j < columns ? load_at(p.weight + k * p.out + first + j, smaller(kLanes, columns - j)) : Vec{});
      }
    }
  });
}

void panel_product(const PanelProduct& p) {
  const int64_t panels = panel_count(p.out);
  const bool few = p.rows <= kFewRows;
  // 100 additions and multiplications a nanosecond, or 20 bytes of the weight.
  const double nanoseconds =
      static_cast<double>(p.in * p.out) * (few ? 0.2 : 0.02 * static_cast<double>(p.rows));
  // A few panels at a time, in memory order; enough groups that no thread waits long for the last one.
  const int64_t group = larger(1, panels / (8 * thread_count()));
  parallel_for((panels + group - 1) / group, threads_for(nanoseconds), [&](int64_t index) {
    for (int64_t panel = index * group; panel < smaller(panels, (index + 1) * group); ++panel) {
      const int64_t first = panel * kWidth, columns = smaller(kWidth, p.out - first);
      const float* weight = p.panels + panel * p.in * kWidth;
      for (int64_t row = 0; row < p.rows; row += kRows) {
        const int64_t rows = smaller(kRows, p.rows - row);
        float* y = p.y + row * p.out + first;
        const bool in_place = p.residual == p.y;
        const int64_t begin = begin_product();
        few ? few_rows(p, weight, first, columns, in_place)
            : many_rows(p, row, rows, weight, first, columns, in_place);
        end_product(begin);
        const float* residual = p.residual && !in_place ? p.residual + row * p.out + first : nullptr;
        if (p.bias || residual || p.activation != Activation::kNone) {
          HEED_ISA::linear_epilogue(LinearEpilogue{p.activation, rows, columns, nullptr,
                                                   p.bias ? p.bias + first : nullptr, residual, y, p.out});
        }
      }
    }
  });
}

void panel_columns(const PanelColumns& p) {
  parallel_for(p.count, threads_for(1.0 * static_cast<double>(p.count * p.in)), [&](int64_t i) {
    const float* column = p.panels + p.ids[i] / kWidth * p.in * kWidth + p.ids[i] % kWidth;
    const float* position = p.positions ? p.positions + i % p.T * p.in : nullptr;
    for (int64_t k = 0; k < p.in; ++k)
      p.y[i * p.in + k] = p.scale * column[k * kWidth] + (position ? position[k] : 0.f);
  });
}

}  // namespace heed::kernels::HEED_ISA
