// Matrix products as formulas: product(a, transposed(b), c) is c = a b^T.
#pragma once

#include "heed/kernels/gemm.h"

namespace heed::ops {

// A row-major view; rows and columns are those of the stored matrix.
struct Matrix {
  const float* data;
  int64_t rows, columns;
  int64_t leading;  // floats from row to row
  bool transposed = false;
};

inline Matrix matrix(const float* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, columns};
}
inline Matrix transposed(Matrix m) {
  m.transposed = !m.transposed;
  return m;
}

// c = a b + beta c. leading: the row stride of c; 0 if its rows are contiguous.
inline void product(const Matrix& a, const Matrix& b, float* c, float beta = 0, int64_t leading = 0) {
  const int64_t n = b.transposed ? b.rows : b.columns;
  kernels::Gemm g;
  g.transpose_a = a.transposed, g.transpose_b = b.transposed;
  g.m = a.transposed ? a.columns : a.rows, g.n = n, g.k = a.transposed ? a.rows : a.columns;
  g.a = a.data, g.lda = a.leading, g.b = b.data, g.ldb = b.leading;
  g.beta = beta, g.c = c, g.ldc = leading > 0 ? leading : n;
  kernels::gemm(g);
}

}  // namespace heed::ops
