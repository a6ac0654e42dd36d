#include "heed/graph/differentiate.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::graph {

ValueId Gradients::output_gradient(size_t i) const {
  const auto found = gradient_.find(output(i));
  return found == gradient_.end() ? kNone : found->second;
}

bool Gradients::wants(size_t i) const { return input(i) && useful_[static_cast<size_t>(input(i).index)]; }

ValueId Gradients::saved(ValueId forward) {
  if (!forward) return kNone;
  const auto known = rematerialised_.find(forward);
  if (known != rematerialised_.end()) return known->second;
  const int producer = graph_.value(forward).producer;
  if (producer < 0) return forward;
  const Node node = graph_.nodes()[static_cast<size_t>(producer)];
  const auto output = std::find(node.outputs.begin(), node.outputs.end(), forward) - node.outputs.begin();
  const ValueId again = node.op->recompute(graph_, producer, static_cast<size_t>(output));
  const ValueId result = again ? again : forward;
  rematerialised_[forward] = result;
  return result;
}

ValueId Gradients::extra_output(std::shared_ptr<const Op> extended, size_t index) {
  return graph_.extend_node(node_, std::move(extended), index);
}

ValueId Gradients::partial(size_t i) const {
  const auto found = gradient_.find(input(i));
  return found == gradient_.end() ? kNone : found->second;
}

void Gradients::set(size_t i, ValueId total) {
  HEED_ASSERT(graph_.value(total).type == graph_.value(input(i)).type);
  gradient_[input(i)] = total;
}

void Gradients::add(size_t i, ValueId contribution) {
  if (!wants(i)) return;
  const ValueId sofar = partial(i);
  set(i, sofar ? sum_(graph_, sofar, contribution) : contribution);
}

std::map<ValueId, ValueId> differentiate(Graph& graph, const std::map<ValueId, ValueId>& seeds,
                                         const std::vector<ValueId>& wrt, const Sum& sum) {
  Gradients gradients(graph, sum);
  const int forward_nodes = static_cast<int>(graph.nodes().size());
  // A value is useful if it is requested or computed from one that is.
  gradients.useful_.assign(graph.values().size(), false);
  for (ValueId id : wrt) gradients.useful_[static_cast<size_t>(id.index)] = true;
  for (const Node& node : graph.nodes()) {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id && gradients.useful_[static_cast<size_t>(id.index)];
    });
    for (ValueId id : node.outputs) {
      if (any) gradients.useful_[static_cast<size_t>(id.index)] = true;
    }
  }
  for (const auto& [value, seed] : seeds) {
    HEED_ASSERT(graph.value(value).type == graph.value(seed).type);
    gradients.gradient_[value] = seed;
  }
  for (int n = forward_nodes - 1; n >= 0; --n) {
    const Node node = graph.nodes()[static_cast<size_t>(n)];  // a copy: gradient() adds nodes
    const bool reached = std::any_of(node.outputs.begin(), node.outputs.end(),
                                     [&](ValueId id) { return gradients.gradient_.contains(id); });
    const bool useful = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      // Outputs that were added to a forward node later (extend_node) have no gradient.
      const auto index = static_cast<size_t>(id.index);
      return index < gradients.useful_.size() && gradients.useful_[index];
    });
    if (!reached || !useful) continue;
    gradients.node_ = n;
    node.op->gradient(gradients);
  }
  for (const auto& [old_value, new_value] : gradients.replacements_) {
    if (!graph.depends_on(new_value, old_value)) graph.replace_uses(old_value, new_value);
  }
  std::map<ValueId, ValueId> result;
  for (ValueId id : wrt) {
    const auto found = gradients.gradient_.find(id);
    if (found != gradients.gradient_.end()) result[id] = found->second;
  }
  return result;
}

}  // namespace heed::graph
