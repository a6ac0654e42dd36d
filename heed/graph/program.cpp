#include "heed/graph/program.h"

#include <algorithm>
#include <cstring>

#include "heed/base/clock.h"
#include "heed/base/error.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/kernels/gemm.h"

namespace heed::graph {
namespace {

// Pages are allocated when they are touched, and a process that touches more than there are is killed: check
// before.
std::shared_ptr<Buffer> affordable(int64_t arena, int64_t missing) {
  constexpr int64_t kSmall = 8 << 20;  // not worth a check
  if (arena + missing > kSmall && arena + missing > available_memory()) {
    throw system_error("memory: ", format_bytes(arena + missing), " are needed (weights and state ",
                       format_bytes(missing), ", arena ", format_bytes(arena), "), ",
                       format_bytes(available_memory()),
                       " are free; choose a smaller model, batch, length or memory");
  }
  return std::make_shared<Buffer>(arena);
}

}  // namespace

std::shared_ptr<Buffer> shared_arena(const std::vector<const Graph*>& graphs, const Variables& variables) {
  int64_t arena = 0;
  for (const Graph* graph : graphs) arena = std::max(arena, plan(*graph).memory.arena);
  return affordable(arena, variables.missing_bytes(graphs));
}

Program::Program(std::shared_ptr<const Graph> graph, Variables& variables, std::shared_ptr<Buffer> arena)
    : graph_(std::move(graph)), plan_(plan(*graph_)), arena_(std::move(arena)) {
  if (!arena_) arena_ = affordable(plan_.memory.arena, variables.missing_bytes({graph_.get()}));
  HEED_ASSERT(arena_->bytes() >= plan_.memory.arena);
  kernels::require_product_memory();
  variables.allocate(*graph_);
  for (size_t i = 0; i < graph_->values().size(); ++i) {
    const Value& value = graph_->values()[i];
    Tensor tensor{nullptr, value.type};
    if (plan_.lives_in[i]) {
      const Value& home = graph_->value(plan_.lives_in[i]);
      tensor.data =
          (home.role == Role::kParameter ? *variables.parameters : variables.states).at(home.name).data;
    } else if (plan_.offset[i] >= 0) {
      tensor.data = arena_->data() + plan_.offset[i];
    }
    tensors_.push_back(tensor);
  }
  size_t total = 0;
  for (const Node& node : graph_->nodes()) total += node.inputs.size() + node.outputs.size();
  arguments_.reserve(total);  // steps point into both
  signatures_.reserve(graph_->nodes().size());
  for (size_t n = 0; n < graph_->nodes().size(); ++n) {
    const Node& node = graph_->nodes()[n];
    const size_t begin = arguments_.size();
    for (ValueId id : node.inputs)
      arguments_.push_back(id ? tensors_[static_cast<size_t>(id.index)] : Tensor{});
    for (ValueId id : node.outputs) arguments_.push_back(tensors_[static_cast<size_t>(id.index)]);
    const std::span<const Tensor> all(arguments_.data() + begin, node.inputs.size() + node.outputs.size());
    signatures_.push_back(graph_->signature(node));
    const std::span scratch(arena_->data() + plan_.scratch_offset[n],
                            static_cast<size_t>(align_up(plan_.scratch_bytes[n])));
    steps_.push_back(
        {node.op.get(),
         {all.first(node.inputs.size()), all.subspan(node.inputs.size()), scratch, &signatures_.back()},
         {}});
    for (const Plan::Copy& copy : plan_.copies) {
      if (copy.node != static_cast<int>(n)) continue;
      Tensor& input = arguments_[begin + static_cast<size_t>(copy.input)];
      const Tensor& output = steps_.back().run.out(static_cast<size_t>(copy.output));
      steps_.back().copies.emplace_back(input, output);
      input = output;
    }
  }
}

Tensor Program::tensor(ValueId id) const {
  id = graph_->current(id);
  const Tensor& tensor = tensors_[static_cast<size_t>(id.index)];
  if (!tensor.data && tensor.type.bytes() > 0)
    throw usage_error("program: ", graph_->describe(id),
                      " is not needed and has no memory; mark it as an output");
  return tensor;
}

Tensor Program::input(const std::string& name) const {
  const ValueId id = graph_->find(name);
  if (!id || graph_->value(id).role != Role::kInput) throw usage_error("the graph has no input '", name, "'");
  return tensor(id);
}

void Program::run(const Step& step) {
  for (const auto& [from, to] : step.copies)
    std::memcpy(to.data, from.data, static_cast<size_t>(from.type.bytes()));
  step.op->run(step.run);
}

void Program::run() {
  const CoreForCaller place;
  const kernels::ProductCheck products;
  for (const Step& step : steps_) run(step);
  products.require_success();
}

void Program::run(std::span<double> seconds) {
  const CoreForCaller place;
  const kernels::ProductCheck products;
  double before = now_seconds();
  for (size_t n = 0; n < steps_.size(); ++n) {
    run(steps_[n]);
    const double after = now_seconds();
    seconds[static_cast<size_t>(graph_->nodes()[n].section)] += after - before;
    before = after;
  }
  products.require_success();
}

void Program::run(Profile& profile) {
  const CoreForCaller place;
  const kernels::ProductCheck products;
  double before = now_seconds();
  for (size_t n = 0; n < steps_.size(); ++n) {
    run(steps_[n]);
    const double after = now_seconds();
    Profile::Entry& entry = profile.by_kind[std::string(steps_[n].op->kind())];
    const Cost cost = steps_[n].op->cost(signatures_[n]);
    ++entry.calls;
    entry.seconds += after - before;
    entry.cost.flops += cost.flops;
    entry.cost.bytes += cost.bytes;
    before = now_seconds();
  }
  ++profile.runs;
  products.require_success();
}

}  // namespace heed::graph
