#include "heed/ops/gumbel_softmax.h"

#include <algorithm>
#include <cmath>

#include "heed/base/philox.h"

namespace heed::ops {
namespace {

double gumbel(const int32_t* rng, uint32_t stream, int64_t choice) {
  const auto word = [&](int i) { return static_cast<uint32_t>(rng[i]); };
  const auto words =
      philox({static_cast<uint32_t>(choice / 4), stream, word(2), word(3)}, {word(0), word(1)});
  const double uniform = (words[static_cast<size_t>(choice % 4)] + 0.5) * 0x1p-32;
  return -std::log(-std::log(uniform));
}

class GumbelSoftmax : public OpWith<GumbelSoftmax, GumbelSoftmaxSettings> {
 public:
  static constexpr const char* kKind = "gumbel_softmax";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
};

// The gradient of the logits: m (dm - <m, dm>) / temperature. Inputs m, dm, temperature.
class GumbelSoftmaxBackward : public OpWith<GumbelSoftmaxBackward, NoSettings> {
 public:
  static constexpr const char* kKind = "gumbel_softmax_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  void run(const Run& run) const override;
};

}  // namespace

ValueId gumbel_softmax(Graph& graph, ValueId logits, ValueId temperature, ValueId rng,
                       GumbelSoftmaxSettings settings) {
  return graph.add_one(make<GumbelSoftmax>(settings), {logits, temperature, rng});
}

std::vector<TensorType> GumbelSoftmax::infer(const Signature& s) const {
  expect_inputs(s, 1, 3);
  expect_rank(s, 0, 1, "logits");
  expect_dtype(s, 0, DType::kF32, "logits");
  if (s.has(1)) expect_type(s, 1, DType::kF32, {1}, "temperature");
  if (s.has(2)) expect_type(s, 2, DType::kI32, {4}, "rng");
  return {*s.inputs[0]};
}

// A few numbers, in double: no separate kernel.
void GumbelSoftmax::run(const Run& r) const {
  const auto logits = r.in(0).floats(), to = r.out(0).floats();
  const double temperature = r.has(1) ? r.in(1).f32()[0] : 1;
  const auto noisy = [&](size_t i) {
    const double noise =
        r.has(2) ? gumbel(r.in(2).i32(), static_cast<uint32_t>(settings_.stream), static_cast<int64_t>(i))
                 : 0;
    return (logits[i] + noise) / temperature;
  };
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < to.size(); ++i) most = std::max(most, noisy(i));
  for (size_t i = 0; i < to.size(); ++i) sum += std::exp(noisy(i) - most);
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(std::exp(noisy(i) - most) / sum);
}

void GumbelSoftmax::gradient(Gradients& g) const {
  if (g.wants(0))
    g.add(0, g.graph().add_one(make<GumbelSoftmaxBackward>(),
                               {g.saved(g.output(0)), g.output_gradient(0), g.input(1)}));
}

std::vector<TensorType> GumbelSoftmaxBackward::infer(const Signature& s) const {
  expect_inputs(s, 2, 3);
  expect_floats(s);
  expect_shape(s, 1, s.in(0), "dm");
  if (s.has(2)) expect_shape(s, 2, {1}, "temperature");
  return {*s.inputs[0]};
}

void GumbelSoftmaxBackward::run(const Run& r) const {
  const auto m = r.in(0).floats(), dm = r.in(1).floats(), to = r.out(0).floats();
  const double temperature = r.has(2) ? r.in(2).f32()[0] : 1;
  double dot = 0;
  for (size_t i = 0; i < m.size(); ++i) dot += static_cast<double>(m[i]) * dm[i];
  for (size_t i = 0; i < m.size(); ++i) to[i] = static_cast<float>(m[i] * (dm[i] - dot) / temperature);
}

std::vector<OpEntry> gumbel_softmax_ops() { return {entry<GumbelSoftmax>(), entry<GumbelSoftmaxBackward>()}; }

}  // namespace heed::ops
