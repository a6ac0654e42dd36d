// Small matrix work inside a kernel, on one thread, on tiles that live in the cache: products and transposes.
// For whole layers there is gemm.h; calling that for a 64 x 64 tile would cost more than the tile. See vec.h
// for the rules of such headers.
#pragma once

#include "heed/kernels/vec.h"

namespace heed::kernels::HEED_ISA {

// A matrix read element by element: any strides, so that transposed and skewed matrices need no copy.
struct Strided {
  const float* data;
  int64_t row, column;  // strides
};

#if defined(__AVX512F__)
inline constexpr int kMicroRows = 6, kMicroVectors = 4;  // 24 of 32 registers accumulate
#else
inline constexpr int kMicroRows = 4, kMicroVectors = 2;  // 8 of 16
#endif

// C[R, V vectors] (+)= A[R, k] B[k, V vectors]; the last vector has `lanes` lanes.
template <int R, int V>
HEED_INLINE void micro_product(int64_t k, Strided a, const float* b, int64_t ldb, float* c, int64_t ldc,
                               bool accumulate, int64_t lanes) {
  Vec sums[R][V] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vec row[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v)
      row[v] = v + 1 < V ? load(b + p * ldb + v * kLanes) : load_at(b + p * ldb + v * kLanes, lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Vec x = splat(a.data[r * a.row + p * a.column]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[r][v] += x * row[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      float* at = c + r * ldc + v * kLanes;
      const int64_t n = v + 1 < V ? kLanes : lanes;
      store_at(at, accumulate ? load_at(at, n) + sums[r][v] : sums[r][v], n);
    }
  }
}

template <int V>
__attribute__((noinline)) static void product_columns(int64_t m, int64_t k, Strided a, const float* b,
                                                      int64_t ldb, float* c, int64_t ldc, bool accumulate,
                                                      int64_t lanes) {
  int64_t r = 0;
  const auto rest = [&] { return Strided{a.data + r * a.row, a.row, a.column}; };
  if (lanes == kLanes) {
    for (; r + kMicroRows <= m; r += kMicroRows)
      micro_product<kMicroRows, V>(k, rest(), b, ldb, c + r * ldc, ldc, accumulate, kLanes);
    for (; r + 2 <= m; r += 2) micro_product<2, V>(k, rest(), b, ldb, c + r * ldc, ldc, accumulate, kLanes);
    for (; r < m; ++r) micro_product<1, V>(k, rest(), b, ldb, c + r * ldc, ldc, accumulate, kLanes);
  } else {
    for (; r + kMicroRows <= m; r += kMicroRows)
      micro_product<kMicroRows, V>(k, rest(), b, ldb, c + r * ldc, ldc, accumulate, lanes);
    for (; r < m; ++r) micro_product<1, V>(k, rest(), b, ldb, c + r * ldc, ldc, accumulate, lanes);
  }
}

// C[m, n] (+)= A[m, k] B[k, n]; B and C row-major with leading dimensions ldb and ldc.
HEED_INLINE void tile_product(int64_t m, int64_t n, int64_t k, Strided a, const float* b, int64_t ldb,
                              float* c, int64_t ldc, bool accumulate) {
  int64_t j = 0;
  for (; j + kMicroVectors * kLanes <= n; j += kMicroVectors * kLanes) {
    product_columns<kMicroVectors>(m, k, a, b + j, ldb, c + j, ldc, accumulate, kLanes);
  }
  for (; j < n; j += kLanes)
    product_columns<1>(m, k, a, b + j, ldb, c + j, ldc, accumulate, smaller(kLanes, n - j));
}

// to[j, i] = from[i, j] for kLanes x kLanes elements, in registers: log2(kLanes) rounds of exchanging
// smaller and smaller squares.
template <int distance>
HEED_INLINE void exchange(Vec (&rows)[kLanes]) {
  IVec low{}, high{};
  for (int l = 0; l < kLanes; ++l) {
    low[l] = (l & distance) ? l - distance + kLanes : l;
    high[l] = (l & distance) ? l + kLanes : l + distance;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r) {
    if (r & distance) continue;
    const Vec a = rows[r], b = rows[r + distance];
    rows[r] = __builtin_shuffle(a, b, low);
    rows[r + distance] = __builtin_shuffle(a, b, high);
  }
  if constexpr (distance > 1) exchange<distance / 2>(rows);
}

// to[j * ldto + i] = from[i * ldfrom + j], i < m, j < n. Columns of `to` from m up to the next multiple of
// kLanes become 0.
static void transpose(int64_t m, int64_t n, const float* from, int64_t ldfrom, float* to, int64_t ldto) {
  for (int64_t i = 0; i < m; i += kLanes) {
    for (int64_t j = 0; j < n; j += kLanes) {
      const int64_t columns = smaller(kLanes, n - j);
      Vec rows[kLanes];
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r)
        rows[r] = i + r < m ? load_at(from + (i + r) * ldfrom + j, columns) : Vec{};
      exchange<kLanes / 2>(rows);
      for (int r = 0; r < columns; ++r) store(to + (j + r) * ldto + i, rows[r]);
    }
  }
}

}  // namespace heed::kernels::HEED_ISA
