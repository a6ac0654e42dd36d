// A loss that includes the latency of the chosen blocks (Wu and others 2019, FBNet, equation 2), for the
// logits of a supernet.
#pragma once

#include "heed/ops/define.h"

namespace heed {

// kPower: loss * alpha * log(LAT)^beta as published; kLogPower: alpha * loss * log(LAT^beta) as in widely
// used code; kNone: the loss alone.
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

// loss: [1]; times: [1 + n L], in units with LAT > 1: the constant part, then the choices of each
// layer; mixtures: L values [n]. LAT = times[0] + sum of mixtures times their times.
ValueId latency_loss(Graph& graph, ValueId loss, ValueId times, const std::vector<ValueId>& mixtures,
                     LatencyLossSettings settings = {});

std::vector<OpEntry> latency_loss_ops();

}  // namespace heed::ops
