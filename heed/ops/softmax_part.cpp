#include "heed/ops/softmax_part.h"

#include "heed/kernels/embedding.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/matrix.h"

namespace heed::ops {
namespace {

constexpr int64_t kRowStep = 16;
constexpr int64_t kChunkBytes = int64_t{48} << 20;
// Each chunk reads and writes the whole weight gradient. Below 128 rows that starts to cost more than the
// product, so huge vocabularies may use twice the memory.
constexpr int64_t kGoodRows = 128, kLargestChunkBytes = 2 * kChunkBytes;

// The row stride of a chunk in floats: whole cache lines, but not a multiple of 4 KiB, which would map a
// column of logits to few cache sets.
int64_t leading_of(int64_t columns) {
  const int64_t floats = (columns + 15) / 16 * 16;
  return floats % 1024 == 0 ? floats + 16 : floats;
}

}  // namespace

void expect_chunk_rows(int64_t chunk_rows) {
  expect(chunk_rows >= 0, text("chunk_rows must be 0 (automatic) or more, it is ", chunk_rows));
}

void expect_targets(const Signature& s, size_t input, int64_t N) {
  expect(s.has(input), text("targets (input ", input, ") are missing"));
  expect_dtype(s, input, DType::kI32, "targets");
  expect(s.in(input).elements() == N,
         text("targets (input ", input, ") need ", N, " elements, they are ", s.in(input).str()));
}

int64_t softmax_chunk_rows(int64_t N, int64_t columns, int64_t wanted) {
  if (wanted > 0) return std::min(N, wanted);
  const int64_t row_bytes = 4 * leading_of(columns);
  int64_t most = kChunkBytes / row_bytes;
  if (most < kGoodRows) most = std::min(kGoodRows, kLargestChunkBytes / row_bytes);
  most = std::max(kRowStep, most / kRowStep * kRowStep);
  if (N <= most) return N;
  const int64_t chunks = (N + most - 1) / most;  // of about equal size: a short last one would be slow
  return ((N + chunks - 1) / chunks + kRowStep - 1) / kRowStep * kRowStep;
}

void SoftmaxScratch::include(const SoftmaxPartSize& s) {
  const int64_t rows = s.chunk_rows;
  rows_ = std::max(rows_, rows);
  logits_size_ = std::max(logits_size_, rows * leading_of(s.columns));
  x_size_ = std::max(x_size_, rows * s.width);
  if (s.projected) hidden_size_ = std::max(hidden_size_, rows * s.inner);
  if (!s.gradient) return;
  partial_size_ = std::max(partial_size_, kernels::softmax_groups(rows) * s.columns);
  dx_size_ = std::max(dx_size_, rows * s.width);
  if (s.projected) dhidden_size_ = std::max(dhidden_size_, rows * s.inner);
}

void SoftmaxScratch::carve(Carver& carver) {
  logits = carver.take<float>(logits_size_);
  partial = carver.take<float>(partial_size_);
  x = carver.take<float>(x_size_);
  hidden = carver.take<float>(hidden_size_);
  dx = carver.take<float>(dx_size_);
  dhidden = carver.take<float>(dhidden_size_);
  losses = carver.take<float>(rows_);
  dlosses = carver.take<float>(rows_);
}

namespace {

// The current rows.
struct Chunk {
  int64_t begin, rows;
  const int32_t* index;  // [rows] or null
  const float* x;        // [rows, D]
  const float* hidden;   // [rows, E]: x, or with a projection dropout(x projection)
  const float* dlosses;  // [rows] or null
  bool add_to_weight;
};

// Computes the chunk's logits and from them, in place, the losses and d loss / d logits for the gradients.
void losses_of(const SoftmaxPart& p, const SoftmaxScratch& s, Chunk& chunk) {
  const int64_t rows = chunk.rows, D = p.size.width, E = p.size.inner;
  const int64_t words = p.size.columns - p.entry_count, leading = leading_of(p.size.columns);
  chunk.hidden = chunk.x;
  if (p.projection) {
    product(matrix(chunk.x, rows, D), matrix(p.projection, D, E), s.hidden);
    p.dropout.drop(chunk.begin, rows, E, s.hidden);
    chunk.hidden = s.hidden;
  }
  const Matrix hidden = matrix(chunk.hidden, rows, E);
  product(hidden, transposed(matrix(p.weight, words, E)), s.logits, 0, leading);
  if (p.entry_count > 0) {
    product(hidden, transposed(matrix(p.entries, p.entry_count, E)), s.logits + words, 0, leading);
  }
  kernels::softmax_loss_rows({rows, p.size.columns, leading, s.logits, p.bias, p.targets + chunk.begin,
                              s.losses, p.size.gradient ? chunk.dlosses : nullptr, p.dbias, s.partial});
  for (int64_t r = 0; r < rows; ++r) p.losses[chunk.index ? chunk.index[r] : chunk.begin + r] += s.losses[r];
}

void gradients_of(const SoftmaxPart& p, const SoftmaxScratch& s, const Chunk& chunk) {
  const int64_t rows = chunk.rows, D = p.size.width, E = p.size.inner;
  const int64_t words = p.size.columns - p.entry_count, leading = leading_of(p.size.columns);
  const Matrix dz{s.logits, rows, words, leading}, dentry{s.logits + words, rows, p.entry_count, leading};
  const Matrix hidden = matrix(chunk.hidden, rows, E);
  if (p.dweight) product(transposed(dz), hidden, p.dweight, chunk.add_to_weight ? 1 : 0);
  if (p.dentries && p.entry_count > 0) product(transposed(dentry), hidden, p.dentries, 1);
  if (!p.dx && !p.dprojection) return;

  // Directly into dx if its rows are contiguous, else into scratch first.
  float* const dx = p.dx && !chunk.index ? p.dx + chunk.begin * D : s.dx;
  const float dx_beta = chunk.index || p.overwrite_dx ? 0 : 1;
  float* const dhidden = p.projection ? s.dhidden : dx;
  product(dz, matrix(p.weight, words, E), dhidden, p.projection ? 0 : dx_beta);
  if (p.entry_count > 0) product(dentry, matrix(p.entries, p.entry_count, E), dhidden, 1);
  if (p.projection) p.dropout.drop(chunk.begin, rows, E, dhidden);
  if (p.dprojection)
    product(transposed(matrix(chunk.x, rows, D)), matrix(dhidden, rows, E), p.dprojection, 1);
  if (!p.dx) return;
  if (p.projection) product(matrix(dhidden, rows, E), transposed(matrix(p.projection, D, E)), dx, dx_beta);
  if (chunk.index) kernels::scatter_rows({rows, D, chunk.index, 1.f, dx, p.dx, true});
}

}  // namespace

void run_softmax_part(const SoftmaxPart& p, const SoftmaxScratch& s) {
  const int64_t D = p.size.width, words = p.size.columns - p.entry_count;
  for (int64_t begin = 0; begin < p.rows; begin += p.size.chunk_rows) {
    Chunk chunk{begin,
                std::min(p.size.chunk_rows, p.rows - begin),
                p.index ? p.index + begin : nullptr,
                p.x + begin * D,
                nullptr,
                p.dlosses ? p.dlosses + begin : nullptr,
                begin > 0 || p.add_to_weight};
    if (chunk.index) {
      kernels::gather_rows({chunk.rows, D, chunk.index, 1.f, p.x, nullptr, 1, s.x});
      chunk.x = s.x;
      for (int64_t r = 0; p.dlosses && r < chunk.rows; ++r) s.dlosses[r] = p.dlosses[chunk.index[r]];
      if (p.dlosses) chunk.dlosses = s.dlosses;
    }
    losses_of(p, s, chunk);
    if (p.size.gradient) gradients_of(p, s, chunk);
  }
  if (p.dweight && p.rows == 0 && !p.add_to_weight) kernels::clear({words * p.size.inner, p.dweight});
}

ActiveRows active_rows(std::span<const int32_t> targets, int32_t* room) {
  int32_t* const index = room;
  int32_t* const kept = room + targets.size();
  int64_t count = 0;
  for (size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    index[count] = static_cast<int32_t>(row);
    kept[count++] = targets[row];
  }
  const bool all = count == static_cast<int64_t>(targets.size());
  return {count, all ? nullptr : index, kept};
}

}  // namespace heed::ops
