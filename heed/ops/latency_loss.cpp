#include "heed/ops/latency_loss.h"

#include <cmath>

namespace heed::ops {
namespace {

// The first of the mixtures among the inputs.
void check(const Signature& s, size_t first) {
  expect(s.inputs.size() > first,
         text("needs a loss, times and at least one mixture, ", s.inputs.size(), " inputs given"));
  expect_inputs(s, s.inputs.size(), s.inputs.size());
  expect_floats(s);
  expect_shape(s, first - 2, {1}, "loss");
  int64_t choices = 0;
  for (size_t i = first; i < s.inputs.size(); ++i) {
    expect_rank(s, i, 1, "a mixture");
    choices += s.in(i).dim(0);
  }
  expect_shape(s, first - 1, {1 + choices}, "times");
}

double latency(const Run& r, size_t first) {
  const float* times = r.in(first - 1).f32();
  double sum = *times++;
  for (size_t i = first; i < r.inputs.size(); ++i) {
    for (const float m : r.in(i).floats()) sum += static_cast<double>(m) * *times++;
  }
  return sum;
}

// The factor of the loss, and its derivative by LAT.
struct Factor {
  double value, slope;
};
Factor factor(const LatencyLossSettings& s, double latency) {
  const double log = std::log(latency);
  if (s.form == LatencyTerm::kNone) return {1, 0};
  if (s.form == LatencyTerm::kLogPower) return {s.alpha * s.beta * log, s.alpha * s.beta / latency};
  return {s.alpha * std::pow(log, s.beta), s.alpha * s.beta * std::pow(log, s.beta - 1) / latency};
}

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

}  // namespace

ValueId latency_loss(Graph& graph, ValueId loss, ValueId times, const std::vector<ValueId>& mixtures,
                     LatencyLossSettings settings) {
  std::vector<ValueId> inputs = {loss, times};
  inputs.insert(inputs.end(), mixtures.begin(), mixtures.end());
  return graph.add_one(make<LatencyLoss>(settings), std::move(inputs));
}

std::vector<TensorType> LatencyLoss::infer(const Signature& s) const {
  check(s, 2);
  return {*s.inputs[0]};
}

void LatencyLoss::run(const Run& r) const {
  r.out(0).f32()[0] = static_cast<float>(r.in(0).f32()[0] * factor(settings_, latency(r, 2)).value);
}

void LatencyLoss::gradient(Gradients& g) const {
  std::vector<ValueId> inputs = {g.output_gradient(0)};
  for (size_t i = 0; g.input(i); ++i) inputs.push_back(g.saved(g.input(i)));
  const auto gradients = g.graph().add(make<LatencyLossBackward>(settings_), inputs);
  if (g.wants(0)) g.add(0, gradients[0]);
  for (size_t i = 2; g.input(i); ++i) {
    if (g.wants(i)) g.add(i, gradients[i - 1]);
  }
}

std::vector<TensorType> LatencyLossBackward::infer(const Signature& s) const {
  check(s, 3);
  std::vector<TensorType> outputs = {*s.inputs[1]};
  for (size_t i = 3; i < s.inputs.size(); ++i) outputs.push_back(*s.inputs[i]);
  return outputs;
}

void LatencyLossBackward::run(const Run& r) const {
  const Factor by = factor(settings_, latency(r, 3));
  const double dy = r.in(0).f32()[0], loss = r.in(1).f32()[0];
  r.out(0).f32()[0] = static_cast<float>(dy * by.value);
  const float* times = r.in(2).f32() + 1;
  for (size_t i = 3; i < r.inputs.size(); ++i) {
    for (float& dm : r.out(i - 2).floats()) dm = static_cast<float>(dy * loss * by.slope * *times++);
  }
}

std::vector<OpEntry> latency_loss_ops() { return {entry<LatencyLoss>(), entry<LatencyLossBackward>()}; }

}  // namespace heed::ops
