// How an op is written. Its header has a settings struct that names its fields, and a function that adds a
// node; the class, derived from OpWith, stays in the source, which gives the list of its ops to ops.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/graph/differentiate.h"
#include "heed/graph/graph.h"
#include "heed/tensor/carver.h"

namespace heed::ops {

using graph::Alias;
using graph::Cost;
using graph::expect;
using graph::expect_dtype;
using graph::expect_floats;
using graph::expect_inputs;
using graph::expect_rank;
using graph::expect_shape;
using graph::expect_type;
using graph::Gradients;
using graph::Graph;
using graph::kNone;
using graph::Run;
using graph::Signature;
using graph::ValueId;

// Derived has `static constexpr const char* kKind`. If it needs scratch, it has a function
//   Scratch carve(Carver& carver, const Signature& signature) const
// that takes its arrays from the carver: the plan uses it to count, and a run to get the memory.
// If it is cheap, it has `static constexpr bool kRunAgain = true`: the backward pass then runs it again
// instead of keeping its outputs.
template <class Derived, class SettingsType>
class OpWith : public graph::Op {
 public:
  using Settings = SettingsType;
  explicit OpWith(Settings settings = {}) : settings_(std::move(settings)) {}
  std::string_view kind() const override { return Derived::kKind; }
  Json settings() const override { return to_json(settings_); }
  int64_t scratch_bytes(const Signature& signature) const override {
    Carver carver;
    if constexpr (requires { derived().carve(carver, signature); }) derived().carve(carver, signature);
    return carver.bytes();
  }
  ValueId recompute(Graph& graph, int node, size_t output) const override {
    if constexpr (requires { Derived::kRunAgain; }) {
      const graph::Node again = graph.nodes()[static_cast<size_t>(node)];
      return graph.add(again.op, again.inputs)[output];
    }
    return kNone;
  }

 protected:
  auto scratch_of(const Run& run) const {
    Carver carver(run.scratch);
    return derived().carve(carver, *run.signature);
  }

  Settings settings_;

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

struct NoSettings {
  template <class Visitor>
  void visit(Visitor&&) {}
};

template <class OpType>
std::shared_ptr<const graph::Op> make(typename OpType::Settings settings = {}) {
  return std::make_shared<OpType>(std::move(settings));
}

// An op by its kind. `make` refuses unknown settings, in a message that starts with `what`.
struct OpEntry {
  std::string name;
  std::shared_ptr<const graph::Op> (*make)(const Json& settings, const std::string& what);
};

template <class OpType>
OpEntry entry() {
  return {OpType::kKind, [](const Json& settings, const std::string& what) {
            return make<OpType>(from_json<typename OpType::Settings>(settings, what));
          }};
}

}  // namespace heed::ops
