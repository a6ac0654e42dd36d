#include "heed/graph/graph.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::graph {

ValueId Graph::add_value(std::string name, TensorType type, Role role, int producer) {
  const ValueId id{static_cast<int32_t>(values_.size())};
  if (role != Role::kComputed && !named_.try_emplace(name, id).second)
    throw usage_error("graph: the name '", name, "' is taken");
  values_.push_back({std::move(name), type, role, producer});
  return id;
}

ValueId Graph::input(const std::string& name, Shape shape, DType dtype) {
  return add_value(name, {shape, dtype}, Role::kInput, -1);
}

ValueId Graph::parameter(const std::string& name, const TensorType& type) {
  return add_value(name, type, Role::kParameter, -1);
}

ValueId Graph::state(const std::string& name, Shape shape, DType dtype) {
  return add_value(name, {shape, dtype}, Role::kState, -1);
}

ValueId Graph::find(const std::string& name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? kNone : found->second;
}

std::vector<TensorType> Graph::infer(const Op& op, const std::vector<ValueId>& inputs) const {
  try {
    return op.infer(signature(Node{{}, inputs, {}, 0}));
  } catch (const Error& error) {
    std::string given;
    for (ValueId id : inputs)
      given += text(given.empty() ? "" : ", ", id ? describe(id) + " " + value(id).type.str() : "none");
    throw Error(error.kind(),
                text(op.kind(), ": ", error.what(), "\n  given: ", given.empty() ? "no inputs" : given));
  }
}

std::vector<ValueId> Graph::add(std::shared_ptr<const Op> op, std::vector<ValueId> inputs) {
  for (ValueId id : inputs) HEED_ASSERT(id.index < static_cast<int32_t>(values_.size()));
  const std::vector<TensorType> types = infer(*op, inputs);
  const int node = static_cast<int>(nodes_.size());
  Node added{std::move(op), std::move(inputs), {}, section_};
  for (const TensorType& type : types) added.outputs.push_back(add_value("", type, Role::kComputed, node));
  nodes_.push_back(std::move(added));
  return nodes_.back().outputs;
}

ValueId Graph::extend_node(int index, std::shared_ptr<const Op> op, size_t output) {
  Node& node = nodes_[static_cast<size_t>(index)];
  const std::vector<TensorType> types = infer(*op, node.inputs);
  HEED_ASSERT(types.size() > output && types.size() >= node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) HEED_ASSERT(types[i] == value(node.outputs[i]).type);
  for (size_t i = node.outputs.size(); i < types.size(); ++i)
    node.outputs.push_back(add_value("", types[i], Role::kComputed, index));
  node.op = std::move(op);
  return node.outputs[output];
}

void Graph::mark_output(ValueId id) {
  HEED_ASSERT(id);
  id = current(id);
  if (!is_output(id)) outputs_.push_back(id);
}

bool Graph::is_output(ValueId id) const {
  return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end();
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes_) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  replaced_[from] = to;
}

ValueId Graph::current(ValueId id) const {
  for (auto found = replaced_.find(id); found != replaced_.end(); found = replaced_.find(id))
    id = found->second;
  return id;
}

bool Graph::depends_on(ValueId id, ValueId on) const {
  std::vector<bool> seen(values_.size());
  std::vector<ValueId> open = {id};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (next == on) return true;
    if (seen[static_cast<size_t>(next.index)]) continue;
    seen[static_cast<size_t>(next.index)] = true;
    if (value(next).producer < 0) continue;
    for (ValueId from : nodes_[static_cast<size_t>(value(next).producer)].inputs) {
      if (from) open.push_back(from);
    }
  }
  return false;
}

void Graph::tidy() {
  // Needed: everything that an output, or a write to a parameter or state, depends on.
  std::vector<bool> needed(nodes_.size());
  std::vector<int> open;
  const auto need = [&](int node) {
    if (node >= 0 && !needed[static_cast<size_t>(node)]) {
      needed[static_cast<size_t>(node)] = true;
      open.push_back(node);
    }
  };
  for (ValueId id : outputs_) need(value(id).producer);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const Alias& alias : nodes_[i].op->aliases(signature(nodes_[i]))) {
      const auto input = static_cast<size_t>(alias.input);
      const ValueId written = input < nodes_[i].inputs.size() ? nodes_[i].inputs[input] : kNone;
      if (alias.required && written && value(written).role != Role::kComputed) need(static_cast<int>(i));
    }
  }
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    for (ValueId id : nodes_[static_cast<size_t>(node)].inputs) {
      if (id) need(value(id).producer);
    }
  }
  // Depth first from the nodes in the order they were added keeps that order wherever dependencies allow it.
  std::vector<int> order;
  std::vector<uint8_t> mark(nodes_.size());  // 0 new, 1 being visited, 2 placed
  for (size_t root = 0; root < nodes_.size(); ++root) {
    if (!needed[root] || mark[root]) continue;
    std::vector<std::pair<int, size_t>> stack = {{static_cast<int>(root), 0}};
    mark[root] = 1;
    while (!stack.empty()) {
      auto& [node, next_input] = stack.back();
      const auto& inputs = nodes_[static_cast<size_t>(node)].inputs;
      if (next_input == inputs.size()) {
        mark[static_cast<size_t>(node)] = 2;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const ValueId id = inputs[next_input++];
      const int producer = id ? value(id).producer : -1;
      if (producer < 0 || mark[static_cast<size_t>(producer)] == 2) continue;
      HEED_ASSERT(mark[static_cast<size_t>(producer)] == 0);  // a cycle
      mark[static_cast<size_t>(producer)] = 1;
      stack.push_back({producer, 0});
    }
  }
  std::vector<Node> kept;
  for (Value& v : values_) v.producer = -1;
  for (int node : order) {
    kept.push_back(std::move(nodes_[static_cast<size_t>(node)]));
    for (ValueId id : kept.back().outputs)
      values_[static_cast<size_t>(id.index)].producer = static_cast<int>(kept.size()) - 1;
  }
  nodes_ = std::move(kept);
}

std::vector<ValueId> Graph::of_role(Role role) const {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].role == role) ids.push_back(ValueId{static_cast<int32_t>(i)});
  }
  return ids;
}

Signature Graph::signature(const Node& node) const {
  Signature result;
  for (ValueId id : node.inputs) result.inputs.push_back(id ? std::optional(value(id).type) : std::nullopt);
  for (ValueId id : node.outputs) result.outputs.push_back(value(id).type);
  return result;
}

std::string Graph::describe(ValueId id) const {
  const Value& v = value(id);
  if (v.role != Role::kComputed) return v.name;
  if (v.producer < 0) return "a dropped value";
  const Node& node = nodes_[static_cast<size_t>(v.producer)];
  const auto output = std::find(node.outputs.begin(), node.outputs.end(), id) - node.outputs.begin();
  return text(node.op->kind(), " ", v.producer, node.outputs.size() > 1 ? text(" output ", output) : "");
}

}  // namespace heed::graph
