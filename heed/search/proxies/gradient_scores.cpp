#include "heed/search/proxies/gradient_scores.h"

#include <cmath>

#include "heed/search/proxies/probe.h"

namespace heed::search {
namespace {

double squares(const Tensor& tensor) {
  double sum = 0;
  for (const float value : tensor.floats()) sum += static_cast<double>(value) * value;
  return sum;
}

std::vector<graph::ValueId> matrices(const Probe& probe) {
  std::vector<graph::ValueId> all;
  for (const model::Product& product : probe.model().products) {
    if (std::find(all.begin(), all.end(), product.matrix) == all.end()) all.push_back(product.matrix);
  }
  return all;
}

// A run of the loss with its gradients by every map.
struct Gradients {
  Probe probe;
  std::map<graph::ValueId, graph::ValueId> by;
  std::vector<graph::ValueId> maps;

  Gradients(const spec::ModelSpec& model, const Batch& batch) : probe(model, batch), maps(matrices(probe)) {
    by = probe.gradients(maps);
    std::vector<graph::ValueId> outputs;
    for (const auto& [value, gradient] : by) outputs.push_back(gradient);
    probe.finish(outputs);
    probe.run();
  }
  Tensor of(graph::ValueId value) const { return probe.tensor(by.at(value)); }
  Tensor weight(graph::ValueId value) { return probe.variables().at(probe.graph().value(value).name); }
};

// The sum over layers of the norm of the gradient.
double grad_norm(const spec::ModelSpec& model, const Batch& batch) {
  const Gradients gradients(model, batch);
  double sum = 0;
  for (const auto& [name, products] : gradients.probe.layers()) {
    double layer = 0;
    for (const model::Product& product : products) layer += squares(gradients.of(product.matrix));
    sum += std::sqrt(layer);
  }
  return sum;
}

// The sum of |weight * gradient|: what the loss would feel if each weight were left out (Lee and others
// 2019).
double snip(const spec::ModelSpec& model, const Batch& batch) {
  Gradients gradients(model, batch);
  double sum = 0;
  for (const graph::ValueId map : gradients.maps) {
    const Tensor weight = gradients.weight(map), gradient = gradients.of(map);
    for (int64_t i = 0; i < weight.shape().elements(); ++i)
      sum += std::abs(static_cast<double>(weight.f32()[i]) * gradient.f32()[i]);
  }
  return sum;
}

// weights . H gradient (Wang and others 2020), H the loss's second derivative by the maps: by how much the
// gradient changes along itself, from two more runs a small step to either side.
double grasp(const spec::ModelSpec& model, const Batch& batch) {
  constexpr double kStep = 3e-3;  // of the norm of the weights
  Gradients gradients(model, batch);
  std::vector<std::vector<float>> weights, directions, forward;
  double weight_squares = 0, direction_squares = 0;
  for (const graph::ValueId map : gradients.maps) {
    const auto weight = gradients.weight(map).floats(), gradient = gradients.of(map).floats();
    weights.emplace_back(weight.begin(), weight.end());
    directions.emplace_back(gradient.begin(), gradient.end());
    weight_squares += squares(gradients.weight(map));
    direction_squares += squares(gradients.of(map));
  }
  if (direction_squares == 0) return 0;
  const double step = kStep * std::sqrt(weight_squares / direction_squares);
  const auto run_at = [&](double at) {
    for (size_t m = 0; m < weights.size(); ++m) {
      const auto to = gradients.weight(gradients.maps[m]).floats();
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(weights[m][i] + at * static_cast<double>(directions[m][i]));
    }
    gradients.probe.run();
  };
  run_at(step);
  for (const graph::ValueId map : gradients.maps) {
    const auto gradient = gradients.of(map).floats();
    forward.emplace_back(gradient.begin(), gradient.end());
  }
  run_at(-step);
  double sum = 0;
  for (size_t m = 0; m < weights.size(); ++m) {
    const auto backward = gradients.of(gradients.maps[m]).floats();
    for (size_t i = 0; i < backward.size(); ++i)
      sum += static_cast<double>(weights[m][i]) * (static_cast<double>(forward[m][i]) - backward[i]);
  }
  return sum / (2 * step);
}

// By channel of a map's output a, with incoming gradient d: half the mean over tokens of (a d)^2 (Theis and
// others 2018), times the second side of the matrix as the public code stores it: what comes in, for GPT-2
// what goes out.
double fisher(const spec::ModelSpec& model, const Batch& batch) {
  Probe probe(model, batch);
  std::vector<graph::ValueId> outputs;
  for (const model::Product& product : probe.model().products) outputs.push_back(product.output);
  const auto by = probe.gradients(outputs);
  std::vector<graph::ValueId> read = outputs;
  for (const auto& [value, gradient] : by) read.push_back(gradient);
  probe.finish(read);
  probe.run();
  double sum = 0;
  for (const auto& [name, products] : probe.layers()) {
    double layer = 0, in = 0, out = 0;
    for (const model::Product& product : products) {
      const Tensor a = probe.tensor(product.output), d = probe.tensor(by.at(product.output));
      double total = 0;
      for (int64_t i = 0; i < a.shape().elements(); ++i) {
        const double both = static_cast<double>(a.f32()[i]) * d.f32()[i];
        total += both * both;
      }
      layer += 0.5 * total / static_cast<double>(a.shape().rows());
      const Shape& shape = probe.graph().shape(product.matrix);
      in = static_cast<double>(shape.dim(0));
      out += static_cast<double>(shape.dim(1));
    }
    sum += layer * (model.backbone == "gpt2" ? out : in);
  }
  return sum;
}

}  // namespace

Proxy grad_norm_proxy() {
  return {"grad_norm", "norms of the gradients of a batch's loss by the maps of the blocks", true, grad_norm};
}
Proxy snip_proxy() { return {"snip", "weights times gradients, without sign", true, snip}; }
Proxy grasp_proxy() {
  return {"grasp", "weights times the change of the gradient along itself", true, grasp};
}
Proxy fisher_proxy() { return {"fisher", "squares of activations times their gradients", true, fisher}; }

}  // namespace heed::search
