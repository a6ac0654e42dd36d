// How an op is written: a settings struct that names its fields, a class derived from OpWith, an entry in
// ops.cpp.
#pragma once

#include <memory>

#include "heed/base/fields.h"
#include "heed/graph/differentiate.h"
#include "heed/graph/graph.h"

namespace heed::ops {

using graph::Alias;
using graph::Cost;
using graph::expect;
using graph::expect_dtype;
using graph::expect_floats;
using graph::expect_inputs;
using graph::expect_rank;
using graph::expect_shape;
using graph::Gradients;
using graph::Graph;
using graph::kNone;
using graph::Run;
using graph::Signature;
using graph::ValueId;

// Derived has `static constexpr const char* kKind`.
template <class Derived, class SettingsType>
class OpWith : public graph::Op {
 public:
  using Settings = SettingsType;
  explicit OpWith(Settings settings = {}) : settings_(std::move(settings)) {}
  std::string_view kind() const override { return Derived::kKind; }

 protected:
  Settings settings_;
};

struct NoSettings {
  template <class Visitor>
  void visit(Visitor&&) {}
};

template <class OpType>
std::shared_ptr<const graph::Op> make(typename OpType::Settings settings = {}) {
  return std::make_shared<OpType>(std::move(settings));
}

// Runs the node again: the usual Op::make_again of an op that is cheap.
inline ValueId run_again(Graph& graph, int node, size_t output) {
  const graph::Node again = graph.nodes()[static_cast<size_t>(node)];
  return graph.add(again.op, again.inputs)[output];
}

}  // namespace heed::ops
