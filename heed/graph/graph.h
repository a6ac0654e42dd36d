// The graph: values and the nodes that make them. Built once, then counted, planned, run and differentiated.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/graph/op.h"

namespace heed::graph {

enum class Role : uint8_t {
  kInput,      // given before every run
  kParameter,  // learned weights
  kState,      // kept between runs: optimizer moments, memory, caches
  kComputed,   // made by a node
};

struct Value {
  std::string name;  // unique among inputs, parameters and states
  TensorType type;
  Role role = Role::kComputed;
  int producer = -1;  // index of the node, for kComputed
};

struct Node {
  std::shared_ptr<const Op> op;
  std::vector<ValueId> inputs;  // kNone where an optional input is absent
  std::vector<ValueId> outputs;
  int section = 0;  // Graph::begin_section
};

class Graph {
 public:
  ValueId input(const std::string& name, Shape shape, DType dtype = DType::kF32);
  ValueId parameter(const std::string& name, const TensorType& type);
  ValueId state(const std::string& name, Shape shape, DType dtype = DType::kF32);
  // The input, parameter or state of that name; kNone if there is none.
  ValueId find(const std::string& name) const;

  // Adds a node. Throws for shapes that do not match, naming op, values and shapes.
  std::vector<ValueId> add(std::shared_ptr<const Op> op, std::vector<ValueId> inputs);
  ValueId add_one(std::shared_ptr<const Op> op, std::vector<ValueId> inputs) {
    return add(std::move(op), std::move(inputs))[0];
  }
  // Nodes added from now on belong to this section, by which a run can be timed. The first is 0.
  void begin_section(int section) { section_ = section; }
  int section() const { return section_; }
  // Replaces a node's op by a variant of it with more outputs (linear that also keeps its pre-activation);
  // the outputs it had stay as they are. Returns the output at `index`.
  ValueId extend_node(int node, std::shared_ptr<const Op> op, size_t index);

  // Outputs stay readable after a run; everything else may be overwritten.
  void mark_output(ValueId value);
  bool is_output(ValueId value) const;

  // Every use of `from` becomes a use of `to`. Nodes may then be out of order: call tidy().
  void replace_uses(ValueId from, ValueId to);
  // The value itself, or its replacement.
  ValueId current(ValueId value) const;
  bool depends_on(ValueId value, ValueId on) const;
  // Drops unneeded nodes and puts the rest in an order that respects dependencies, otherwise as added.
  // Besides the outputs, nodes that write parameters or states (required aliases) count as needed.
  void tidy();

  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id.index)]; }
  const Shape& shape(ValueId id) const { return value(id).type.shape; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  std::vector<ValueId> of_role(Role role) const;
  Signature signature(const Node& node) const;
  // A name for messages: its own, or "layer_norm_backward 12 output 0".
  std::string describe(ValueId id) const;

 private:
  ValueId add_value(std::string name, TensorType type, Role role, int producer);
  std::vector<TensorType> infer(const Op& op, const std::vector<ValueId>& inputs) const;

  std::vector<Value> values_;
  std::unordered_map<std::string, ValueId> named_;  // inputs, parameters and states
  std::vector<Node> nodes_;
  std::vector<ValueId> outputs_;
  std::map<ValueId, ValueId> replaced_;
  int section_ = 0;
};

}  // namespace heed::graph
