#include "heed/kernels/panels.h"

#include "heed/base/threads.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/tile.h"

namespace heed::kernels::HEED_ISA {
namespace {

constexpr int64_t kWidth = kPanelWidth;
constexpr int64_t kDepth = 768;  // rows of a panel worked on at a time: 192 KiB, a part of L2
constexpr int64_t kRows = 192;   // rows of x per block, for the same reason

}  // namespace

void pack_panels(const PackPanels& p) {
  parallel_for(panel_count(p.out), threads_for(0.5 * static_cast<double>(p.in * p.out)), [&](int64_t panel) {
    const int64_t first = panel * kWidth, columns = smaller(kWidth, p.out - first);
    float* to = p.panels + panel * p.in * kWidth;
    if (p.transposed) {
      if (columns < kWidth) {
        for (int64_t i = 0; i < p.in * kWidth; ++i) to[i] = 0;
      }
      return transpose(columns, p.in, p.weight + first * p.in, p.in, to, kWidth);
    }
    for (int64_t k = 0; k < p.in; ++k) {
      for (int64_t j = 0; j < kWidth; j += kLanes) {
        store(to + k * kWidth + j,
              j < columns ? load_at(p.weight + k * p.out + first + j, smaller(kLanes, columns - j)) : Vec{});
      }
    }
  });
}

void panel_product(const PanelProduct& p) {
  const int64_t panels = panel_count(p.out);
  const double nanoseconds = 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.in * p.out) / 100;
  // Some panels at a time, in the order of memory; enough such groups that no thread waits long for the last
  // one.
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
        for (int64_t k = 0; k < p.in; k += kDepth) {
          tile_product(rows, columns, smaller(kDepth, p.in - k), {p.x + row * p.in + k, p.in, 1},
                       weight + k * kWidth, kWidth, y, p.out, k > 0 || in_place);
        }
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
