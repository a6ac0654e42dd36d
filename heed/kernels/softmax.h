// Softmax over long rows of logits: losses with their gradients, and log-probabilities.
//
// A row is processed from its maximum to its gradient before the next one: it is read from memory once and
// stays in the L2 cache for the following passes.
#pragma once

#include <cstdint>

#include "heed/kernels/isa.h"

namespace heed::kernels {

// losses[r] = log(sum_j exp(z[r, j])) - z[r, targets[r]],  z = logits + bias.
// With dlosses, logits become the gradient: (softmax(z)[r, j] - (j == targets[r])) * dlosses[r]. Without,
// they are kept.
struct SoftmaxLossRows {
  int64_t rows, columns, leading;  // leading: floats from row to row of the logits
  float* logits;
  const float* bias;       // [columns] or null
  const int32_t* targets;  // [rows], each a column
  float* losses;           // [rows]
  const float* dlosses;    // [rows] or null
  float* dbias;            // [columns], the sum over rows is added; or null
  float* partial;          // with dbias: softmax_groups(rows) * columns floats
};
HEED_KERNEL(softmax_loss_rows, SoftmaxLossRows)
// Rows are shared among threads, and summed into dbias, in this many groups whatever the number of threads.
inline int64_t softmax_groups(int64_t rows) { return rows < 16 ? rows : 16; }

// x[r, j] = z[r, j] - log_sums[r] + add[r],  z = x + bias,
// log_sums[r] = log(sum_j exp(z[r, j]) + exp(outside[r])): outside is the log of the part of the sum that is
// computed elsewhere.
struct LogSoftmaxRows {
  int64_t rows, columns, leading;
  float* x;
  const float* bias;     // [columns] or null
  const float* outside;  // [rows] or null
  const float* add;      // [rows] or null
  float* log_sums;       // [rows] or null
};
HEED_KERNEL(log_softmax_rows, LogSoftmaxRows)

}  // namespace heed::kernels
