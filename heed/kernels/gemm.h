// Matrix products. The only file that knows oneDNN, which is loaded by the first of them: a process that only
// generates uses packed weights (panels.h) and does without it.
//
// Only dnnl_sgemm is used: it is the same in oneDNN 2 and 3, needs no packing or objects kept per shape, and
// with weights stored [in, out] runs within a few percent of the packed primitives (bench/gemm_bench.cpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "heed/base/threads.h"

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

// On the calling thread only; may be called from parallel regions. False if the library could not be loaded
// or could not allocate memory to pack its operands; C is then unchanged.
[[nodiscard]] bool gemm_serial(const Gemm& g);
// Before the first product: throws if there is no memory for the code that the library generates; the library
// itself would crash.
void require_product_memory();

// Watches the products that the calling thread starts while it lives. A product cannot throw from inside a
// node, so the caller asks at the end; programs that run on other threads are not affected.
class ProductCheck {
 public:
  ProductCheck();
  ~ProductCheck();
  ProductCheck(const ProductCheck&) = delete;
  ProductCheck& operator=(const ProductCheck&) = delete;
  // Throws if a product failed.
  void require_success() const;

 private:
  friend void report_failed_product();
  mutable bool failed_ = false;
  ProductCheck* outer_;  // that watches this thread again afterwards
};
// Reports a failed product of this thread to the innermost ProductCheck that watches it.
void report_failed_product();

// A rectangle of C, given to an epilogue while it is in the cache.
struct Tile {
  int64_t row, rows, column, columns;
};

// How C is split: `pieces` along rows or columns, shared among `threads`.
struct GemmCut {
  bool by_rows;
  int pieces;
  int threads;
};
GemmCut cut_for(const Gemm& g);
// The part of the product that computes `piece`, and its tile; false if the piece is empty.
bool gemm_piece(const Gemm& g, GemmCut cut, int piece, Gemm& part, Tile& tile);

// Splits C among heed's threads; a small product stays on one. epilogue(tile) follows each piece. A failure
// is reported on the calling thread.
template <class Epilogue>
void gemm(const Gemm& g, const Epilogue& epilogue) {
  const GemmCut cut = cut_for(g);
  std::atomic<bool> failed = false;
  parallel_for(cut.pieces, cut.threads, [&](int64_t piece) {
    Gemm part;
    Tile tile;
    if (!gemm_piece(g, cut, static_cast<int>(piece), part, tile)) return;
    if (!gemm_serial(part)) failed = true;
    epilogue(tile);
  });
  if (failed) report_failed_product();
}
void gemm(const Gemm& g);

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
