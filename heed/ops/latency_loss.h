// A loss that also counts how long the chosen blocks take (Wu and others 2019, FBNet, equation 2): what the
// logits of a supernet descend when a millisecond has a worth.
#pragma once

#include "heed/ops/define.h"

namespace heed {

// kPower: loss * alpha * log(LAT)^beta as published; kLogPower: alpha * loss * log(LAT^beta) as in much used
// code after it; kNone: the loss alone.
enum class LatencyTerm { kNone, kPower, kLogPower };
template <>
struct EnumNames<LatencyTerm> {
  static constexpr std::pair<LatencyTerm, const char*> names[] = {
      {LatencyTerm::kNone, "none"}, {LatencyTerm::kPower, "power"}, {LatencyTerm::kLogPower, "log-power"}};
};

}  // namespace heed

namespace heed::ops {

struct LatencyLossSettings {
  LatencyTerm form = LatencyTerm::kPower;
  double alpha = 0.2;
  double beta = 0.6;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("form", form, "power: loss alpha log(LAT)^beta; log-power: alpha loss log(LAT^beta); none: loss");
    field("alpha", alpha, "factor of the whole");
    field("beta", beta, "how much latency counts");
  }
};

// loss: [1]; times: [1 + n L], in units such that LAT > 1: what is always there, then the choices of each
// layer; mixtures: L values [n]. LAT = times[0] + sum of mixtures times their times.
ValueId latency_loss(Graph& graph, ValueId loss, ValueId times, const std::vector<ValueId>& mixtures,
                     LatencyLossSettings settings = {});

class LatencyLoss : public OpWith<LatencyLoss, LatencyLossSettings> {
 public:
  static constexpr const char* kKind = "latency_loss";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// Inputs dy, then those of the loss; gradients of the loss and of each mixture.
class LatencyLossBackward : public OpWith<LatencyLossBackward, LatencyLossSettings> {
 public:
  static constexpr const char* kKind = "latency_loss_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace heed::ops
