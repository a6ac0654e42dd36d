// Matrix products. The only file that knows oneDNN.
//
// Only dnnl_sgemm is used: it is the same in oneDNN 2 and 3, needs no packing or objects kept per shape, and
// with weights stored [in, out] runs within a few percent of the packed primitives (bench/gemm_bench.cpp).
#pragma once

#include <cstdint>

namespace heed::kernels {

// C[M, N] = op(A)[M, K] op(B)[K, N] + beta C, row-major. A transposed operand is stored the other way round.
struct Gemm {
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  const float* b = nullptr;
  int64_t ldb = 0;
  float beta = 0;
  float* c = nullptr;
  int64_t ldc = 0;
};

// On the calling thread only; may be called from parallel regions. A product that gets no memory to work in
// is told by the next check_products, an Error.
void gemm_serial(const Gemm& g);
void check_products();
// Before the first product: an Error if there is no room for the code that the library generates, which it
// does not survive.
void require_product_memory();

// A rectangle of C, given to an epilogue while it is in the cache.
struct Tile {
  int64_t row, rows, column, columns;
};

// Cuts C among heed's threads; a small product stays on one.
void gemm(const Gemm& g);

// How C is cut: `pieces` along rows or columns, shared among `threads`.
struct GemmCut {
  bool by_rows;
  int pieces;
  int threads;
};
GemmCut cut_for(const Gemm& g);
// The part of the product that makes `piece`, and its tile; false if the piece is empty.
bool gemm_piece(const Gemm& g, GemmCut cut, int piece, Gemm& part, Tile& tile);

// Lets the library generate its code on every thread, about 8 MB: a fixed cost of the program, not of a
// model.
void warm_up_gemm();

// For `heed bench --profile`: thread time spent in products while measuring is on. Products call begin and
// end around themselves, and nothing is measured otherwise.
void measure_products(bool on);
double product_seconds();  // since measuring began
int64_t begin_product();
void end_product(int64_t begin);

const char* gemm_library();  // "oneDNN 2.6.3"

}  // namespace heed::kernels
