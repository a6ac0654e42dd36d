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
  return {name, kind, meaning, std::move(moments), to_json(defaults)};
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
                       entry<ops::LambSettings>("lamb", "lamb", "LAMB as in Transformer-XL"),
                       entry<ops::NvLambSettings>("nvlamb", "nvlamb",
                                                  "LAMB as in NVIDIA's BERT; clip gradients to norm 1"),
                       entry<ops::SgdSettings>("sgd", "sgd", "gradient descent with momentum", {}, {"m"}),
                   });
  return list;
}

graph::ValueId OptimizerEntry::add(graph::Graph& graph, graph::ValueId w, graph::ValueId g,
                                   graph::ValueId learning_rate, graph::ValueId step, graph::ValueId clip,
                                   const Json& settings) const {
  if (graph.value(w).role != graph::Role::kParameter) {
    throw usage_error(name, ": only parameters are updated, ", graph.describe(w), " is not one");
  }
  Json all = defaults;
  if (settings.is_object()) {
    all.update(settings);
  } else {
    all = settings;  // refused by the op, which says what it expected
  }
  const auto op = ops::all().find(kind).make(all, name);
  const std::string parameter = graph.value(w).name;
  const Shape shape = graph.shape(w);
  std::vector<graph::ValueId> inputs = {w, g};
  for (const char* moment : moments) inputs.push_back(graph.state(text(parameter, ".", moment), shape));
  inputs.insert(inputs.end(), {learning_rate, step, clip});
  return graph.add(op, inputs)[0];
}

}  // namespace heed::train
