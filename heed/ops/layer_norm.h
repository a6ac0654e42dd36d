#pragma once

#include "heed/ops/define.h"

namespace heed::ops {

struct LayerNormSettings {
  double epsilon = 1e-5;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("epsilon", epsilon, "added to the variance");
  }
};

// Layer norm over the last dimension. x: [..., D], gain and bias: [D].
ValueId layer_norm(Graph& graph, ValueId x, ValueId gain, ValueId bias, LayerNormSettings settings = {});

class LayerNorm : public OpWith<LayerNorm, LayerNormSettings> {
 public:
  static constexpr const char* kKind = "layer_norm";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 0, false}}; }
  void run(const Run& run) const override;
  void gradient(Gradients& g) const override;
  ValueId make_again(Graph& graph, int node, size_t output) const override {
    return run_again(graph, node, output);
  }
};

// Inputs x, gain, dy and optionally a gradient to add; outputs dx, dgain, dbias.
class LayerNormBackward : public OpWith<LayerNormBackward, LayerNormSettings> {
 public:
  static constexpr const char* kKind = "layer_norm_backward";
  using OpWith::OpWith;
  std::vector<TensorType> infer(const Signature& s) const override;
  int64_t scratch_bytes(const Signature& s) const override;
  std::vector<Alias> aliases(const Signature&) const override { return {{0, 3, false}, {0, 2, false}}; }
  void run(const Run& run) const override;
};

}  // namespace heed::ops
