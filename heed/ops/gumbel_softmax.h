// A relaxed draw of one of n choices (Jang and others 2017; Maddison and others 2017): what a layer of a
// supernet is mixed by.
#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct GumbelSoftmaxSettings {
  int64_t stream = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("stream", stream, "number of this op's stream of random numbers");
  }
};

// m = softmax((logits + G) / temperature), G = -log(-log U). logits: [n], temperature: [1], or kNone for 1,
// rng: i32 [4], seed and step, or kNone for no noise. U of choice i is word i % 4 of Philox4x32-10 at counter
// {i / 4, stream, step}.
ValueId gumbel_softmax(Graph& graph, ValueId logits, ValueId temperature, ValueId rng,
                       GumbelSoftmaxSettings settings = {});

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

}  // namespace heed::ops
