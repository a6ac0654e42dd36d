#include "heed/search/proxies/probe.h"

#include <algorithm>

#include "heed/ops/ops.h"

namespace heed::search {

Probe::Probe(const spec::ModelSpec& spec, const Batch& batch)
    : batch_(batch), graph_(std::make_shared<graph::Graph>()) {
  model::Use use;
  use.sequences = batch.sequences;
  use.length = batch.length;
  use.observed = true;
  model_ = model::build(*graph_, spec, use);
}

std::map<graph::ValueId, graph::ValueId> Probe::gradients(const std::vector<graph::ValueId>& wrt) {
  return ops::gradients(*graph_, model_.loss, wrt);
}

void Probe::finish(const std::vector<graph::ValueId>& outputs) {
  for (const graph::ValueId value : outputs) graph_->mark_output(graph_->current(value));
  graph_->tidy();
  program_ = std::make_unique<graph::Program>(graph_, variables_);
  fill_weights(*graph_, model_.weights, variables_, first_weights(model_.weights, batch_.seed));
  for (const auto& [name, words] : {std::pair{"tokens", &batch_.tokens}, {"targets", &batch_.targets}}) {
    if (!graph_->find(name)) continue;
    const auto to = program_->input(name).ints();
    HEED_ASSERT(to.size() == words->size());
    std::copy(words->begin(), words->end(), to.begin());
  }
  model::Use use;
  use.sequences = batch_.sequences;
  use.length = batch_.length;
  model::set_position(*program_, use, {});
}

std::map<std::string, std::vector<model::Product>> Probe::layers() const {
  std::map<std::string, std::vector<model::Product>> layers;
  for (const model::Product& product : model_.products) {
    std::string name = product.name;
    for (const char* part : {".attention.q.", ".attention.kv."}) {
      if (const size_t at = name.find(part); at != std::string::npos)
        name.replace(at, std::string(part).size(), ".attention.qkv.");
    }
    layers[name].push_back(product);
  }
  return layers;
}

}  // namespace heed::search
