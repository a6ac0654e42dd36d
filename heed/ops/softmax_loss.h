// Softmax over the whole vocabulary: losses by row, their mean, log-probabilities.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct SoftmaxLossSettings {
  int64_t chunk_rows = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("chunk_rows", chunk_rows, "rows whose logits exist at once, 0: as many as fit about 48 MiB");
  }
};

// losses[n] = log(sum_v exp(x_n . w_v + bias_v)) - (x_n . w_t + bias_t), t = targets[n]; 0 where the target
// is negative. x: [..., D] of N rows, w: [V, D], bias: [V] or kNone, targets: i32 of N elements. Result: [N].
// Rows with a negative target cost nothing. A target of V or more is an Error when the node runs.
ValueId softmax_loss(Graph& graph, ValueId x, ValueId w, ValueId bias, ValueId targets,
                     SoftmaxLossSettings settings = {});

class SoftmaxLoss : public OpWith<SoftmaxLoss, SoftmaxLossSettings> {
 public:
  static constexpr const char* kKind = "softmax_loss";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

struct SoftmaxLossGradientSettings {
  bool x = true;
  bool weight = true;
  bool bias = false;
  int64_t chunk_rows = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("x", x, "dx is wanted");
    field("weight", weight, "dw is wanted");
    field("bias", bias, "dbias is wanted");
    field("chunk_rows", chunk_rows, "as in softmax_loss");
  }
};

// Loss and gradient in one, which makes the logits once: three products in a training step instead of four.
// Inputs x, w, bias or none, targets, dlosses: [N], and optionally dw so far, in whose memory the sum is
// made. Outputs losses, dx, dw, dbias; those not wanted are empty.
class SoftmaxLossGradient : public OpWith<SoftmaxLossGradient, SoftmaxLossGradientSettings> {
 public:
  static constexpr const char* kKind = "softmax_loss_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{2, 5, true}}; }
  void run(const Run& run) const override;
};

// The mean of the losses whose target is not negative, 0 if there are none. losses: [N], targets: i32 of N
// elements. Result: [1].
ValueId mean_loss(Graph& graph, ValueId losses, ValueId targets);

class MeanLoss : public OpWith<MeanLoss, NoSettings> {
 public:
  static constexpr const char* kKind = "mean_loss";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// Inputs dmean: [1], targets; output dlosses: [N]. Needs no losses, so that loss and gradient can be one
// node.
class MeanLossGradient : public OpWith<MeanLossGradient, NoSettings> {
 public:
  static constexpr const char* kKind = "mean_loss_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

// [N, V]: the logarithm of softmax(x w^T + bias). For generation; no gradient.
ValueId log_probabilities(Graph& graph, ValueId x, ValueId w, ValueId bias = kNone);

class LogProbabilities : public OpWith<LogProbabilities, NoSettings> {
 public:
  static constexpr const char* kKind = "log_probabilities";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
