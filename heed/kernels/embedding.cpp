#include "heed/kernels/embedding.h"

#include "heed/base/threads.h"
#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {

void gather_rows(const GatherRows& g) {
  const int64_t D = g.width;
  parallel_range(g.rows, threads_for(0.2 * static_cast<double>(g.rows * D)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = g.x + static_cast<int64_t>(g.index[row]) * D;
      const float* add = g.add ? g.add + row % g.period * D : nullptr;
      for_vectors(D, [&](int64_t j, int64_t lanes) {
        Vec v = g.scale * load_at(x + j, lanes);
        if (add) v += load_at(add + j, lanes);
        store_at(g.y + row * D + j, v, lanes);
      });
    }
  });
}

void scatter_rows(const ScatterRows& s) {
  constexpr int64_t kColumns = 16;  // a cache line: no two threads write into one
  const int64_t D = s.width, blocks = (D + kColumns - 1) / kColumns;
  const int threads = threads_for(0.3 * static_cast<double>(s.rows * D));
  parallel_range(blocks, threads, [&](int64_t first_block, int64_t last_block) {
    const int64_t column = first_block * kColumns, columns = smaller(D, last_block * kColumns) - column;
    for (int64_t row = 0; row < s.rows; ++row) {
      const float* x = s.x + row * D + column;
      float* y = s.y + static_cast<int64_t>(s.index[row]) * D + column;
      for_vectors(columns, [&](int64_t j, int64_t lanes) {
        Vec v = s.scale * load_at(x + j, lanes);
        if (s.accumulate) v += load_at(y + j, lanes);
        store_at(y + j, v, lanes);
      });
    }
  });
}

void batch_sum(const BatchSum& b) {
  const int threads = threads_for(0.15 * static_cast<double>(b.batch * b.n));
  parallel_range(b.n, threads, [&](int64_t begin, int64_t end) {
    for_vectors(end - begin, [&](int64_t i, int64_t lanes) {
      Vec total{};
      for (int64_t batch = 0; batch < b.batch; ++batch)
        total += load_at(b.x + batch * b.n + begin + i, lanes);
      store_at(b.y + begin + i, total, lanes);
    });
  });
}

void clear(const Clear& c) {
  parallel_range(c.n, threads_for(0.1 * static_cast<double>(c.n)), [&](int64_t begin, int64_t end) {
    __builtin_memset(c.y + begin, 0, static_cast<size_t>(end - begin) * sizeof(float));
  });
}

}  // namespace heed::kernels::HEED_ISA
