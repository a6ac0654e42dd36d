// Reading 4 of the graph: gradients, as more nodes of the same graph.
#pragma once

#include <functional>
#include <map>

#include "heed/graph/graph.h"

namespace heed::graph {

// Adds a node that sums two values of one shape; given by heed/ops, which is above this folder.
using Sum = std::function<ValueId(Graph&, ValueId, ValueId)>;

// What Op::gradient works with: the node being differentiated, the gradients of its outputs, and
// slots for those of its inputs.
class Gradients {
 public:
  Graph& graph() { return graph_; }
  ValueId input(size_t i) const { return i < node().inputs.size() ? node().inputs[i] : kNone; }
  ValueId output(size_t i) const { return node().outputs[i]; }
  // kNone when nothing depends on that output.
  ValueId output_gradient(size_t i) const;
  // Whether a gradient of this input is needed.
  bool wants(size_t i) const;

  // A forward value as the backward pass should read it. Cheap ones are recomputed where they are needed, so
  // that their memory is free in between.
  ValueId saved(ValueId forward);
  // Asks the forward node for one more output (see Graph::extend_node).
  ValueId extra_output(std::shared_ptr<const Op> extended, size_t index);
  // Declares that `value` equals output i and is computed in the backward pass anyway. If nothing in between
  // needs output i, the forward node is then dropped: this makes a loss and its gradient one node.
  void instead_of_output(size_t i, ValueId value) { replacements_.push_back({output(i), value}); }

  // The gradient of input i so far, for ops that add to it; kNone if there is none.
  ValueId partial(size_t i) const;
  // The gradient of input i, partial(i) included.
  void set(size_t i, ValueId total);
  // A contribution to the gradient of input i, summed with partial(i) by a separate node if necessary.
  void add(size_t i, ValueId contribution);

 private:
  friend std::map<ValueId, ValueId> differentiate(Graph&, const std::map<ValueId, ValueId>&,
                                                  const std::vector<ValueId>&, const Sum&);
  Gradients(Graph& graph, const Sum& sum) : graph_(graph), sum_(sum) {}
  const Node& node() const { return graph_.nodes()[static_cast<size_t>(node_)]; }

  Graph& graph_;
  const Sum& sum_;
  int node_ = -1;
  std::map<ValueId, ValueId> gradient_;  // by forward value
  std::map<ValueId, ValueId> rematerialised_;
  std::vector<bool> useful_;  // by value: on a path to a requested one
  std::vector<std::pair<ValueId, ValueId>> replacements_;
};

// Gradients of sum_i <seed_i, value_i> by each of `wrt`, `seeds` mapping values to their incoming gradients.
// A value that none of the seeded ones depends on has no entry in the result. The caller tidies the graph,
// once its outputs are marked.
std::map<ValueId, ValueId> differentiate(Graph& graph, const std::map<ValueId, ValueId>& seeds,
                                         const std::vector<ValueId>& wrt, const Sum& sum);

}  // namespace heed::graph
