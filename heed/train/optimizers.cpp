#include "heed/train/optimizers.h"

#include "heed/ops/optimizer.h"

namespace heed::train {
namespace {

template <class OpType>
OptimizerEntry entry(const char* name, const char* meaning, typename OpType::Settings defaults = {}) {
  return {name, meaning, to_json(defaults),
          [](const Json& settings, const std::string& what) -> std::shared_ptr<const graph::Op> {
            return ops::make<OpType>(from_json<typename OpType::Settings>(settings, what));
          }};
}

}  // namespace

// The list of optimizers. A new one adds one line.
const Registry<OptimizerEntry>& optimizers() {
  static const Registry<OptimizerEntry> list(
      "optimizer", {
                       entry<ops::Adam>("adam", "Adam, weight decay as L2 in the gradient"),
                       entry<ops::Adam>("adamw", "Adam with decoupled weight decay",
                                        {.weight_decay = 0.01, .decoupled = true}),
                       entry<ops::RAdam>("radam", "rectified Adam, as SRU++ uses it", {.weight_decay = 0.1}),
                       entry<ops::Lamb>("lamb", "LAMB as in Transformer-XL"),
                       entry<ops::NvLamb>("nvlamb", "LAMB as in NVIDIA's BERT; clip gradients to norm 1"),
                   });
  return list;
}

graph::ValueId OptimizerEntry::add(graph::Graph& graph, graph::ValueId w, graph::ValueId g,
                                   graph::ValueId learning_rate, graph::ValueId step, graph::ValueId clip,
                                   const Json& settings) const {
  if (graph.value(w).role != graph::Role::kParameter) {
    throw usage_error(name, ": only parameters are updated, ", graph.describe(w), " is none");
  }
  Json all = defaults;
  if (settings.is_object()) {
    all.update(settings);
  } else {
    all = settings;  // refused by `make`, which says what it expected
  }
  const auto op = make(all, name);
  const std::string parameter = graph.value(w).name;
  const Shape shape = graph.shape(w);
  const graph::ValueId m = graph.state(parameter + ".m", shape), v = graph.state(parameter + ".v", shape);
  return graph.add_one(op, {w, g, m, v, learning_rate, step, clip});
}

}  // namespace heed::train
