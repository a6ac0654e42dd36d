// A softmax over a range of the vocabulary for some of the rows, with its gradients: all of a plain
// softmax_loss, or the head or one tail of an adaptive one. Works on chunks of rows, so that the logits of
// all rows never exist at once.
#pragma once

#include "heed/ops/vocabulary.h"

namespace heed::ops {

// Sizes of one part; they determine its scratch.
struct SoftmaxPartSize {
  int64_t columns;  // words and cluster entries
  int64_t width;    // D, of x
  int64_t inner;    // E, of the weights; D without a projection
  bool projected;
  bool gradient;
  int64_t chunk_rows;  // softmax_chunk_rows()
};

// Rows of a chunk, for at most N rows of `columns` logits. `wanted` if that is positive, else as many as fit
// about 48 MiB.
int64_t softmax_chunk_rows(int64_t N, int64_t columns, int64_t wanted);
// Throws if "chunk_rows" of the settings is invalid.
void expect_chunk_rows(int64_t chunk_rows);
// Throws if `input` is not a target for each of N rows.
void expect_targets(const Signature& s, size_t input, int64_t N);

// Working memory, enough for any of the parts included.
class SoftmaxScratch {
 public:
  void include(const SoftmaxPartSize& size);
  void carve(Carver& carver);

  float* logits = nullptr;                      // [chunk, columns, padded]
  float* partial = nullptr;                     // sums of dbias
  float *x = nullptr, *dx = nullptr;            // [chunk, D], rows gathered
  float *hidden = nullptr, *dhidden = nullptr;  // [chunk, E]
  float *losses = nullptr, *dlosses = nullptr;  // [chunk]

 private:
  int64_t rows_ = 0, logits_size_ = 0, partial_size_ = 0;
  int64_t x_size_ = 0, dx_size_ = 0, hidden_size_ = 0, dhidden_size_ = 0;
};

// x and everything by row are whole tensors, of which the rows in `index` are used.
struct SoftmaxPart {
  SoftmaxPartSize size;

  int64_t rows = 0;
  const int32_t* index = nullptr;    // [rows], or null: all rows, in order
  const int32_t* targets = nullptr;  // [rows], each a column
  const float* x = nullptr;          // [N, D]

  // logits = dropout(x projection) [weight; entries]^T + bias
  const float* projection = nullptr;  // [D, E] or null: then nothing is dropped
  const float* weight = nullptr;      // [columns - entry_count, E]
  int64_t entry_count = 0;
  const float* entries = nullptr;  // [entry_count, E]: the head's entries for clusters
  const float* bias = nullptr;     // [columns] or null
  ClusterDropout dropout = {};

  float* losses = nullptr;  // [N], added to

  // With size.gradient; null ones are not wanted. All are added to, dweight only if add_to_weight and dx
  // unless overwrite_dx (which needs a null index).
  const float* dlosses = nullptr;  // [N]
  float* dx = nullptr;
  bool overwrite_dx = false;
  float* dweight = nullptr;
  bool add_to_weight = false;
  float* dentries = nullptr;
  float* dbias = nullptr;
  float* dprojection = nullptr;
};

void run_softmax_part(const SoftmaxPart& part, const SoftmaxScratch& scratch);

// The rows whose target is not negative, with their targets. index is null if all rows are used.
struct ActiveRows {
  int64_t count = 0;
  const int32_t* index = nullptr;
  const int32_t* targets = nullptr;
};
// room: 2 * N integers.
ActiveRows active_rows(std::span<const int32_t> targets, int32_t* room);

}  // namespace heed::ops
