#include "heed/ops/softmax_loss.h"

#include "heed/kernels/embedding.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/matrix.h"
#include "heed/ops/softmax_part.h"

namespace heed::ops {
namespace {

Cost products_cost(const Signature& s, int products) {
  const double N = static_cast<double>(s.in(0).rows()), V = static_cast<double>(s.in(1).dim(0));
  return {2.0 * products * N * V * static_cast<double>(s.in(1).dim(1)), static_cast<double>(s.bytes())};
}

void expect_weights(const Signature& s) {
  expect_dtype(s, 0, DType::kF32, "x");
  expect(s.in(0).rank() >= 1, "x (input 0) needs at least one dimension");
  expect_dtype(s, 1, DType::kF32, "w");
  expect_rank(s, 1, 2, "w");
  const int64_t V = s.in(1).dim(0), D = s.in(1).dim(1);
  expect(V >= 1 && D >= 1, text("w (input 1) is empty: ", s.in(1).str()));
  expect(s.in(0).dim(-1) == D,
         text("x ", s.in(0).str(), " has width ", s.in(0).dim(-1), ", w ", s.in(1).str(), " takes ", D));
  if (s.has(2)) expect_type(s, 2, DType::kF32, {V}, "bias");
}

struct Scratch {
  SoftmaxPartSize size;
  SoftmaxScratch part;
  int32_t* rows;

  Scratch(Carver& carver, const Signature& s, bool gradient, int64_t chunk_rows)
      : size{s.in(1).dim(0), s.in(1).dim(1), s.in(1).dim(1),
             false,          gradient,       softmax_chunk_rows(s.in(0).rows(), s.in(1).dim(0), chunk_rows)} {
    part.include(size);
    part.carve(carver);
    rows = carver.take<int32_t>(2 * s.in(0).rows());
  }
};

// Shared by loss and gradient; inputs x, w, bias, targets.
SoftmaxPart part_of(const Run& r, const Scratch& scratch, std::string_view op) {
  const auto targets = r.in(3).ints();
  check_ids(op, "target", targets, scratch.size.columns, Negative::kIgnored);
  const ActiveRows active = active_rows(targets, scratch.rows);
  SoftmaxPart part{.size = scratch.size};
  part.rows = active.count, part.index = active.index, part.targets = active.targets;
  part.x = r.in(0).f32(), part.weight = r.in(1).f32(), part.bias = r.in_or_null(2);
  part.losses = r.out(0).f32();
  kernels::clear({r.out(0).shape().elements(), part.losses});
  return part;
}

class SoftmaxLoss : public OpWith<SoftmaxLoss, SoftmaxLossSettings> {
 public:
  static constexpr const char* kKind = "softmax_loss";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
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

// Loss and gradient in one node, which computes the logits once: three products in a training step instead of
// four. Inputs x, w, bias or none, targets, dlosses: [N], and optionally dw so far, in whose memory the sum
// is made. Outputs losses, dx, dw, dbias; those not wanted are empty.
class SoftmaxLossGradient : public OpWith<SoftmaxLossGradient, SoftmaxLossGradientSettings> {
 public:
  static constexpr const char* kKind = "softmax_loss_gradient";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  Scratch carve(Carver& carver, const Signature& s) const;
  std::vector<Alias> aliases(const Signature&) const override { return {{2, 5, true}}; }
  void run(const Run& run) const override;
};

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

class LogProbabilities : public OpWith<LogProbabilities, NoSettings> {
 public:
  static constexpr const char* kKind = "log_probabilities";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  Cost cost(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId softmax_loss(Graph& graph, ValueId x, ValueId w, ValueId bias, ValueId targets,
                     SoftmaxLossSettings settings) {
  return graph.add_one(make<SoftmaxLoss>(settings), {x, w, bias, targets});
}

std::vector<TensorType> SoftmaxLoss::infer(const Signature& s) const {
  expect_inputs(s, 2, 4);
  expect_weights(s);
  expect_targets(s, 3, s.in(0).rows());
  expect_chunk_rows(settings_.chunk_rows);
  return {TensorType{s.in(0).rows()}};
}

Cost SoftmaxLoss::cost(const Signature& s) const { return products_cost(s, 1); }

Scratch SoftmaxLoss::carve(Carver& carver, const Signature& s) const {
  return {carver, s, false, settings_.chunk_rows};
}

void SoftmaxLoss::run(const Run& r) const {
  const Scratch scratch = scratch_of(r);
  run_softmax_part(part_of(r, scratch, kKind), scratch.part);
}

void SoftmaxLoss::gradient(Gradients& g) const {
  const SoftmaxLossGradientSettings settings{g.wants(0), g.wants(1), g.wants(2), settings_.chunk_rows};
  const ValueId so_far = g.wants(1) ? g.partial(1) : kNone;
  const auto outputs = g.graph().add(make<SoftmaxLossGradient>(settings),
                                     {g.saved(g.input(0)), g.saved(g.input(1)), g.saved(g.input(2)),
                                      g.input(3), g.output_gradient(0), so_far});
  g.instead_of_output(0, outputs[0]);
  if (g.wants(1)) g.set(1, outputs[2]);
  if (g.wants(0)) g.add(0, outputs[1]);
  if (g.wants(2)) g.add(2, outputs[3]);
}

std::vector<TensorType> SoftmaxLossGradient::infer(const Signature& s) const {
  expect_inputs(s, 2, 6);
  expect_weights(s);
  const int64_t N = s.in(0).rows();
  expect_targets(s, 3, N);
  expect(s.has(4), "dlosses (input 4) are missing");
  expect_type(s, 4, DType::kF32, {N}, "dlosses");
  expect_chunk_rows(settings_.chunk_rows);
  if (s.has(5)) {
    expect(settings_.weight, "dw so far is given, but dw is not wanted");
    expect_shape(s, 5, s.in(1), "dw so far");
  }
  expect(!settings_.bias || s.has(2), "the gradient of a bias is wanted that is not given");
  const TensorType none{0};
  return {TensorType{N}, settings_.x ? *s.inputs[0] : none, settings_.weight ? *s.inputs[1] : none,
          settings_.bias ? *s.inputs[2] : none};
}

Cost SoftmaxLossGradient::cost(const Signature& s) const {
  return products_cost(s, 1 + (settings_.x ? 1 : 0) + (settings_.weight ? 1 : 0));
}

Scratch SoftmaxLossGradient::carve(Carver& carver, const Signature& s) const {
  return {carver, s, true, settings_.chunk_rows};
}

void SoftmaxLossGradient::run(const Run& r) const {
  const Scratch scratch = scratch_of(r);
  SoftmaxPart part = part_of(r, scratch, kKind);
  part.dlosses = r.in(4).f32();
  if (settings_.x) {
    part.dx = r.out(1).f32();
    part.overwrite_dx = part.index == nullptr;
    if (part.index) kernels::clear({r.out(1).shape().elements(), part.dx});
  }
  if (settings_.weight) {
    part.dweight = r.out(2).f32();
    part.add_to_weight = r.has(5);
  }
  if (settings_.bias) {
    part.dbias = r.out(3).f32();
    kernels::clear({scratch.size.columns, part.dbias});
  }
  run_softmax_part(part, scratch.part);
}

ValueId mean_loss(Graph& graph, ValueId losses, ValueId targets) {
  return graph.add_one(make<MeanLoss>(), {losses, targets});
}

std::vector<TensorType> MeanLoss::infer(const Signature& s) const {
  expect_inputs(s, 2, 2);
  expect_dtype(s, 0, DType::kF32, "losses");
  expect_rank(s, 0, 1, "losses");
  expect_targets(s, 1, s.in(0).dim(0));
  return {TensorType{1}};
}

void MeanLoss::run(const Run& r) const {
  const auto losses = r.in(0).floats();
  const auto targets = r.in(1).ints();
  double total = 0;
  int64_t count = 0;
  for (size_t n = 0; n < targets.size(); ++n) {
    if (targets[n] < 0) continue;
    total += static_cast<double>(losses[n]);
    ++count;
  }
  r.out(0).f32()[0] = count == 0 ? 0.f : static_cast<float>(total / static_cast<double>(count));
}

void MeanLoss::gradient(Gradients& g) const {
  if (g.wants(0)) g.add(0, g.graph().add_one(make<MeanLossGradient>(), {g.output_gradient(0), g.input(1)}));
}

std::vector<TensorType> MeanLossGradient::infer(const Signature& s) const {
  expect_inputs(s, 2, 2);
  expect_type(s, 0, DType::kF32, {1}, "dmean");
  expect_dtype(s, 1, DType::kI32, "targets");
  return {TensorType{s.in(1).elements()}};
}

void MeanLossGradient::run(const Run& r) const {
  const auto targets = r.in(1).ints();
  const auto count =
      std::count_if(targets.begin(), targets.end(), [](int32_t target) { return target >= 0; });
  const float share = count == 0 ? 0.f : r.in(0).f32()[0] / static_cast<float>(count);
  std::transform(targets.begin(), targets.end(), r.out(0).f32(),
                 [&](int32_t target) { return target < 0 ? 0.f : share; });
}

ValueId log_probabilities(Graph& graph, ValueId x, ValueId w, ValueId bias) {
  return graph.add_one(make<LogProbabilities>(), {x, w, bias});
}

std::vector<TensorType> LogProbabilities::infer(const Signature& s) const {
  expect_inputs(s, 2, 3);
  expect_weights(s);
  return {{{s.in(0).rows(), s.in(1).dim(0)}}};
}

Cost LogProbabilities::cost(const Signature& s) const { return products_cost(s, 1); }

void LogProbabilities::run(const Run& r) const {
  const int64_t N = r.out(0).shape().dim(0), V = r.out(0).shape().dim(1), D = r.in(1).shape().dim(1);
  float* const y = r.out(0).f32();
  product(matrix(r.in(0).f32(), N, D), transposed(matrix(r.in(1).f32(), V, D)), y);
  kernels::log_softmax_rows({N, V, V, y, r.in_or_null(2), nullptr, nullptr, nullptr});
}

std::vector<OpEntry> softmax_loss_ops() {
  return {entry<SoftmaxLoss>(), entry<SoftmaxLossGradient>(), entry<MeanLoss>(), entry<MeanLossGradient>(),
          entry<LogProbabilities>()};
}

}  // namespace heed::ops
