// A model with access to its internals: matrices, their gradients and activations, from one run with new
// weights.
#pragma once

#include <memory>

#include "heed/model/model.h"
#include "heed/search/proxies/proxies.h"

namespace heed::search {

class Probe {
 public:
  // With the initial weights of training. No dropout: it would only add noise.
  Probe(const spec::ModelSpec& model, const ProxyInput& batch);

  graph::Graph& graph() { return *graph_; }
  const model::Model& model() const { return model_; }
  // Gradients of the mean loss.
  std::map<graph::ValueId, graph::ValueId> gradients(const std::vector<graph::ValueId>& wrt);

  // Declares everything to be read afterwards, then fills weights, tokens and targets.
  void finish(const std::vector<graph::ValueId>& outputs);
  void run() { program_->run(); }
  Tensor tensor(graph::ValueId value) const { return program_->tensor(graph_->current(value)); }
  const graph::NamedTensors& parameters() const { return *variables_.parameters; }
  graph::Program& program() { return *program_; }

  // Maps by layer: queries, keys and values count as one, as in the public code.
  std::map<std::string, std::vector<model::Product>> layers() const;

 private:
  const ProxyInput& batch_;
  model::GraphForm form_;
  std::shared_ptr<graph::Graph> graph_;
  model::Model model_;
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
};

}  // namespace heed::search
