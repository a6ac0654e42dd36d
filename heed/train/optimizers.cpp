#include "heed/train/optimizers.h"

#include "heed/ops/ops.h"
#include "heed/ops/optimizer.h"
#include "heed/ops/sgd.h"

namespace heed::train {
namespace {

// `kind` is that of the op.
template <class Settings>
OptimizerEntry entry(const char* name, const char* kind, const char* meaning, Settings defaults = {},
                     std::vector<const char*> moments = {"m", "v"}) {
  const auto complete = [name, defaults](const Json& settings) {
    return to_json(from_json<Settings>(settings, name, defaults));
  };
  return {name, kind, meaning, std::move(moments), to_json(defaults), complete};
}

OptimizerEntry by_layer(OptimizerEntry optimizer) {
  optimizer.by_layer = true;
  return optimizer;
}

}  // namespace

// The list of optimizers. A new one adds one line.
const Registry<OptimizerEntry>& optimizers() {
  static const Registry<OptimizerEntry> list(
      "optimizer", {
                       entry<ops::AdamSettings>("adam", "adam", "Adam, weight decay as L2 in the gradient"),
                       entry<ops::AdamSettings>("adamw", "adam", "Adam with decoupled weight decay",
                                                {.weight_decay = 0.01, .decoupled = true}),
                       entry<ops::RAdamSettings>("radam", "radam", "rectified Adam, as SRU++ uses it",
                                                 {.weight_decay = 0.1}),
                       by_layer(entry<ops::LambSettings>("lamb", "lamb", "LAMB as in Transformer-XL")),
                       by_layer(entry<ops::NvLambSettings>(
                           "nvlamb", "nvlamb", "LAMB as in NVIDIA's BERT; clip gradients to norm 1")),
                       entry<ops::SgdSettings>("sgd", "sgd", "gradient descent with momentum", {}, {"m"}),
                   });
  return list;
}

std::vector<graph::ValueId> OptimizerEntry::add(graph::Graph& graph, const Updated& updated,
                                                graph::ValueId learning_rate, graph::ValueId step,
                                                graph::ValueId clip, const Json& settings) const {
  HEED_ASSERT(updated.parameters.size() == updated.gradients.size());
  HEED_ASSERT(by_layer || (updated.parameters.size() == 1 && updated.layer_ends.empty()));
  std::vector<graph::ValueId> inputs = updated.parameters;
  inputs.insert(inputs.end(), updated.gradients.begin(), updated.gradients.end());
  for (graph::ValueId w : updated.parameters) {
    if (graph.value(w).role != graph::Role::kParameter)
      throw usage_error(name, ": only parameters are updated, ", graph.describe(w), " is not one");
  }
  for (const char* moment : moments) {
    for (graph::ValueId w : updated.parameters) {
      const std::string parameter = graph.value(w).name;
      const Shape shape = graph.shape(w);
      inputs.push_back(graph.state(text(parameter, ".", moment), shape));
    }
  }
  inputs.insert(inputs.end(), {learning_rate, step, clip});
  Json all = complete(settings);
  if (by_layer) all["layer_ends"] = updated.layer_ends;
  auto outputs = graph.add(ops::all().find(kind).make(all, name), inputs);
  outputs.resize(updated.parameters.size());
  return outputs;
}

}  // namespace heed::train
