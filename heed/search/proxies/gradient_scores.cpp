#include "heed/search/proxies/gradient_scores.h"

#include <algorithm>
#include <cmath>

#include "heed/ops/arithmetic.h"
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

// Which relus are on, by the map before them; nothing where the activation is smooth.
std::map<std::string, std::vector<float>> switches(const spec::ModelSpec& model, const ProxyInput& batch) {
  std::map<std::string, std::vector<float>> found;
  Probe probe(model, batch);
  std::vector<model::Product> relus;
  std::vector<graph::ValueId> read;
  for (const model::Product& product : probe.model().products) {
    if (product.activation != Activation::kRelu) continue;
    relus.push_back(product);
    read.push_back(product.output);
  }
  if (relus.empty()) return found;
  probe.finish(read);
  probe.run();
  for (const model::Product& product : relus) {
    std::vector<float>& mask = found[product.name];
    for (const float value : probe.tensor(product.output).floats()) mask.push_back(value > 0 ? 1.f : 0.f);
  }
  return found;
}

// Every relu becomes a product with an input, so that its mask does not change when weights change.
void hold_switches(Probe& probe, const std::map<std::string, std::vector<float>>& masks) {
  graph::Graph& graph = probe.graph();
  for (const model::Product& product : probe.model().products) {
    if (!masks.contains(product.name)) continue;
    const graph::ValueId mask = graph.input(product.name + ".on", graph.shape(product.activated));
    graph.replace_uses(product.activated, ops::mul(graph, product.output, mask));
  }
  graph.tidy();
}

// A run of the loss with its gradients by every map.
struct Gradients {
  Probe probe;
  std::map<graph::ValueId, graph::ValueId> by;
  std::vector<graph::ValueId> maps;

  Gradients(const spec::ModelSpec& model, const ProxyInput& batch,
            const std::map<std::string, std::vector<float>>& masks = {})
      : probe(model, batch), maps(matrices(probe)) {
    probe.graph().mark_output(probe.model().loss);
    hold_switches(probe, masks);
    by = probe.gradients(maps);
    std::vector<graph::ValueId> outputs;
    for (const auto& [value, gradient] : by) outputs.push_back(gradient);
    probe.finish(outputs);
    for (const auto& [name, mask] : masks) {
      const auto to = probe.program().input(name + ".on").floats();
      std::copy(mask.begin(), mask.end(), to.begin());
    }
    probe.run();
  }
  Tensor of(graph::ValueId value) const { return probe.tensor(by.at(value)); }
  Tensor weight(graph::ValueId value) const { return probe.tensor(value); }
};

// The sum over layers of the norm of the gradient.
double grad_norm(const spec::ModelSpec& model, const ProxyInput& batch) {
  const Gradients gradients(model, batch);
  double sum = 0;
  for (const auto& [name, products] : gradients.probe.layers()) {
    double layer = 0;
    for (const model::Product& product : products) layer += squares(gradients.of(product.matrix));
    sum += std::sqrt(layer);
  }
  return sum;
}

// The sum of |weight * gradient|: how the loss would change if each weight were removed (Lee and others
// 2019).
double snip(const spec::ModelSpec& model, const ProxyInput& batch) {
  Gradients gradients(model, batch);
  double sum = 0;
  for (const graph::ValueId map : gradients.maps) {
    const Tensor weight = gradients.weight(map), gradient = gradients.of(map);
    for (int64_t i = 0; i < weight.shape().elements(); ++i)
      sum += std::abs(static_cast<double>(weight.f32()[i]) * gradient.f32()[i]);
  }
  return sum;
}

// weights . H gradient (Wang and others 2020), H the loss's second derivative by the matrices. H is
// symmetric, so this is how fast gradient . (gradient at weights scaled by 1 + e) changes with e: from runs
// at a few e. Scaling weights is a far smaller change than a step along the gradient, and keeps more
// precision. Relus do not switch meanwhile: autograd ignores their kinks.
double grasp(const spec::ModelSpec& model, const ProxyInput& batch) {
  constexpr double kStep = 0.01;
  Gradients gradients(model, batch, switches(model, batch));
  std::vector<std::vector<float>> weights, first;
  for (const graph::ValueId map : gradients.maps) {
    const auto weight = gradients.weight(map).floats(), gradient = gradients.of(map).floats();
    weights.emplace_back(weight.begin(), weight.end());
    first.emplace_back(gradient.begin(), gradient.end());
  }
  const auto along = [&](double e) {
    for (size_t m = 0; m < weights.size(); ++m) {
      const auto to = gradients.weight(gradients.maps[m]).floats();
      for (size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>((1 + e) * static_cast<double>(weights[m][i]));
    }
    gradients.probe.run();
    double sum = 0;
    for (size_t m = 0; m < weights.size(); ++m) {
      const auto gradient = gradients.of(gradients.maps[m]).floats();
      for (size_t i = 0; i < gradient.size(); ++i) sum += static_cast<double>(first[m][i]) * gradient[i];
    }
    return sum;
  };
  const auto slope = [&](double step) { return (along(step) - along(-step)) / (2 * step); };
  return (4 * slope(kStep) - slope(2 * kStep)) / 3;  // Richardson: the error of both cancels
}

// By channel of a map's output a, with incoming gradient d: half the mean over tokens of (a d)^2 (Theis and
// others 2018), times the second side of the matrix as the public code stores it: what comes in, for GPT-2
// what goes out.
double fisher(const spec::ModelSpec& model, const ProxyInput& batch) {
  Probe probe(model, batch);
  std::vector<graph::ValueId> outputs;
  for (const model::Product& product : probe.model().products) outputs.push_back(product.output);
  const auto by = probe.gradients(outputs);
  std::vector<graph::ValueId> read = outputs;
  for (const auto& [value, gradient] : by) read.push_back(gradient);
  probe.finish(read);
  probe.run();
  const bool stored_in_out = spec::backbones().find(model.backbone).stores_in_out;
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
    sum += layer * (stored_in_out ? out : in);
  }
  return sum;
}

}  // namespace

Proxy grad_norm_proxy() {
  return {"grad_norm", "norms of the gradients of a batch's loss with respect to the blocks' matrices", true,
          grad_norm};
}
Proxy snip_proxy() { return {"snip", "weights times gradients, without sign", true, snip}; }
Proxy grasp_proxy() {
  return {"grasp", "weights times the change of the gradient along itself", true, grasp};
}
Proxy fisher_proxy() { return {"fisher", "squares of activations times their gradients", true, fisher}; }

}  // namespace heed::search
