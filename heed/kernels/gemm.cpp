#include "heed/kernels/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "heed/base/clock.h"
#include "heed/base/error.h"
#include "heed/base/shared_library.h"
#include "heed/base/threads.h"
#include "heed/tensor/buffer.h"

namespace heed::kernels {
namespace {

std::atomic<bool> measuring = false;
std::atomic<int64_t> nanoseconds_in_products = 0;
thread_local ProductCheck* watching = nullptr;

constexpr int64_t kGrain = 64;     // pieces begin at multiples of this many rows or columns
constexpr int64_t kLargest = 768;  // and have at most this many

struct OneDnn {
  SharedLibrary library{HEED_DNNL_SONAME};
  decltype(&dnnl_sgemm) sgemm = library.function<decltype(dnnl_sgemm)>("dnnl_sgemm");
  decltype(&dnnl_version) version = library.function<decltype(dnnl_version)>("dnnl_version");
};
const OneDnn& one_dnn() {
  static const OneDnn loaded;
  return loaded;
}

void require_one_dnn() {
  if (const std::string& problem = one_dnn().library.problem(); !problem.empty())
    throw system_error("matrix products: ", problem);
}

}  // namespace

bool gemm_serial(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return true;
  if (g.k == 0) {  // an empty sum; dnnl_sgemm leaves C untouched
    for (int64_t i = 0; i < g.m; ++i) {
      for (int64_t j = 0; j < g.n; ++j) g.c[i * g.ldc + j] = g.beta == 0 ? 0 : g.beta * g.c[i * g.ldc + j];
    }
    return true;
  }
  if (!one_dnn().library.problem().empty()) return false;
  const int64_t begin = begin_product();
  // One thread here whatever the pool's size: the caller has split the work.
  const int outside = omp_in_parallel() ? 0 : omp_get_max_threads();
  if (outside > 1) omp_set_num_threads(1);
  const dnnl_status_t status = one_dnn().sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n,
                                               g.k, 1.f, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
  if (outside > 1) omp_set_num_threads(outside);
  end_product(begin);
  return status == dnnl_success;
}

GemmCut cut_for(const Gemm& g) {
  const double nanoseconds =
      2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) / 100;
  const int threads = threads_for(nanoseconds);
  // Each piece packs the operand it shares with the others again, so split along the longer side, in pieces
  // that are large, but not so large that the library's packing buffers take much memory.
  const bool by_rows = g.m >= g.n;
  const int64_t along = by_rows ? g.m : g.n;
  const int64_t rounds = (along + threads * kLargest - 1) / (threads * kLargest);
  return {by_rows, static_cast<int>(std::clamp<int64_t>((along + kGrain - 1) / kGrain, 1, rounds * threads)),
          threads};
}

bool gemm_piece(const Gemm& g, GemmCut cut, int piece, Gemm& part, Tile& tile) {
  part = g;
  tile = {0, g.m, 0, g.n};
  if (cut.pieces == 1) return true;
  const int64_t along = cut.by_rows ? g.m : g.n;
  const int64_t grains = (along + kGrain - 1) / kGrain;
  const int64_t begin = std::min(along, grains * piece / cut.pieces * kGrain);
  const int64_t end = std::min(along, grains * (piece + 1) / cut.pieces * kGrain);
  if (begin >= end) return false;
  if (cut.by_rows) {
    part.m = tile.rows = end - begin;
    tile.row = begin;
    part.a += g.transpose_a ? begin : begin * g.lda;
    part.c += begin * g.ldc;
  } else {
    part.n = tile.columns = end - begin;
    tile.column = begin;
    part.b += g.transpose_b ? begin * g.ldb : begin;
    part.c += begin;
  }
  return true;
}

void gemm(const Gemm& g) {
  gemm(g, [](const Tile&) {});
}

ProductCheck::ProductCheck() : outer_(watching) { watching = this; }
ProductCheck::~ProductCheck() { watching = outer_; }

void report_failed_product() {
  if (watching) watching->failed_ = true;
}

void ProductCheck::require_success() const {
  if (!failed_) return;
  require_one_dnn();
  throw system_error(
      "out of memory for a matrix product; close other programs, or choose a smaller "
      "model or batch");
}

void require_product_memory() {
  constexpr int64_t kForCode = 16 << 20;
  static const bool room = (Buffer(kForCode), true);
  static_cast<void>(room);
}

void warm_up_gemm() {
  require_product_memory();
  constexpr int64_t n = 96;
  std::vector<float> a(n * n), b(n * n), c(n * n * thread_count());
  parallel_for(thread_count(), thread_count(), [&](int64_t thread) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        // A failure here appears again in the first real product.
        static_cast<void>(gemm_serial(
            {transpose_a, transpose_b, n, n, n, a.data(), n, b.data(), n, 0, c.data() + thread * n * n, n}));
      }
    }
  });
}

void measure_products(bool on) {
  measuring = on;
  nanoseconds_in_products = 0;
}

double product_seconds() { return 1e-9 * static_cast<double>(nanoseconds_in_products); }

int64_t begin_product() { return measuring ? static_cast<int64_t>(1e9 * now_seconds()) : 0; }

void end_product(int64_t begin) {
  if (begin) nanoseconds_in_products += static_cast<int64_t>(1e9 * now_seconds()) - begin;
}

const char* gemm_library() {
  static const std::string name = [] {
    require_one_dnn();
    const dnnl_version_t* v = one_dnn().version();
    return text("oneDNN ", v->major, ".", v->minor, ".", v->patch);
  }();
  return name.c_str();
}

}  // namespace heed::kernels
