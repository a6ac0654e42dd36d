#include "heed/search/proxies/probe.h"

#include <algorithm>

#include "heed/ops/ops.h"

namespace heed::search {

Probe::Probe(const spec::ModelSpec& spec, const ProxyInput& batch)
    : batch_(batch),
      form_(model::observation_form(batch.sequences, batch.length)),
      graph_(std::make_shared<graph::Graph>()),
      model_(model::build(*graph_, spec, form_)) {}

std::map<graph::ValueId, graph::ValueId> Probe::gradients(const std::vector<graph::ValueId>& wrt) {
  return ops::gradients(*graph_, model_.loss, wrt);
}

void Probe::finish(const std::vector<graph::ValueId>& outputs) {
  for (const graph::ValueId value : outputs) graph_->mark_output(graph_->current(value));
  graph_->tidy();
  program_ = std::make_unique<graph::Program>(graph_, variables_);
  fill_weights(*graph_, model_.weights, *variables_.parameters, first_weights(model_.weights, batch_.seed));
  const model::InputSpans inputs(*program_, model_.inputs);
  const Batch batch = batch_of(model_, *program_);
  const std::span<int32_t> tokens = batch.ints("tokens"), targets = batch.ints("targets");
  HEED_ASSERT(tokens.size() == batch_.tokens.size() && targets.size() == batch_.targets.size());
  std::ranges::copy(batch_.tokens, tokens.begin());
  std::ranges::copy(batch_.targets, targets.begin());
  set_position(inputs, form_, {});
}

std::map<std::string, std::vector<model::Product>> Probe::layers() const {
  std::map<std::string, std::vector<model::Product>> layers;
  for (const model::Product& product : model_.products) layers[product.layer].push_back(product);
  return layers;
}

}  // namespace heed::search
