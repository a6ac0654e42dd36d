#include "heed/graph/program.h"

#include <algorithm>
#include <cstring>

#include "heed/base/clock.h"
#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/kernels/gemm.h"

namespace heed::graph {
namespace {

// Of what the graphs want to keep and the variables do not hold yet.
int64_t missing_bytes(const std::vector<const Graph*>& graphs, const Variables& variables) {
  std::map<std::string, int64_t> missing;
  for (const Graph* graph : graphs) {
    for (const Value& value : graph->values()) {
      const bool lasts = value.role == Role::kParameter || value.role == Role::kState;
      if (lasts && !variables.all().contains(value.name)) missing[value.name] = align_up(value.type.bytes());
    }
  }
  int64_t bytes = 0;
  for (const auto& [name, size] : missing) bytes += size;
  return bytes;
}

// Pages come when they are touched, and who touches more than there is gets killed: it has to be known
// before.
std::shared_ptr<Buffer> affordable(int64_t arena, int64_t missing) {
  constexpr int64_t kSmall = 8 << 20;  // not worth asking the system for
  if (arena + missing > kSmall && arena + missing > available_memory()) {
    throw failure("memory: ", format_bytes(arena + missing), " are needed (weights and state ",
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
  return affordable(arena, missing_bytes(graphs, variables));
}

void Variables::allocate(const Graph& graph) {
  std::vector<const Value*> missing;
  int64_t bytes = 0;
  for (const Value& value : graph.values()) {
    if (value.role != Role::kParameter && value.role != Role::kState) continue;
    const auto found = tensors_.find(value.name);
    if (found == tensors_.end()) {
      missing.push_back(&value);
      bytes += align_up(value.type.bytes());
    } else if (found->second.type != value.type) {
      throw usage_error("variable '", value.name, "' is ", found->second.type.str(), ", the graph wants ",
                        value.type.str());
    }
  }
  if (missing.empty()) return;
  buffers_.emplace_back(bytes);
  std::byte* next = buffers_.back().data();
  for (const Value* value : missing) {
    tensors_[value->name] = Tensor{next, value->type};
    next += align_up(value->type.bytes());
  }
}

Tensor Variables::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, tensor] : tensors_) names.push_back(known);
    const std::string guess = nearest(name, names);
    throw usage_error("no parameter or state is named '", name, "'",
                      guess.empty() ? "" : "; did you mean '" + guess + "'?");
  }
  return found->second;
}

Program::Program(std::shared_ptr<const Graph> graph, Variables& variables, std::shared_ptr<Buffer> arena)
    : graph_(std::move(graph)), plan_(plan(*graph_)), arena_(std::move(arena)) {
  if (!arena_) arena_ = affordable(plan_.memory.arena, missing_bytes({graph_.get()}, variables));
  HEED_ASSERT(arena_->bytes() >= plan_.memory.arena);
  kernels::require_product_memory();
  variables.allocate(*graph_);
  for (size_t i = 0; i < graph_->values().size(); ++i) {
    const Value& value = graph_->values()[i];
    Tensor tensor{nullptr, value.type};
    if (plan_.lives_in[i]) {
      tensor.data = variables.at(graph_->value(plan_.lives_in[i]).name).data;
    } else if (plan_.offset[i] >= 0) {
      tensor.data = arena_->data() + plan_.offset[i];
    }
    tensors_.push_back(tensor);
  }
  size_t total = 0;
  for (const Node& node : graph_->nodes()) total += node.inputs.size() + node.outputs.size();
  arguments_.reserve(total);  // steps point into it
  for (size_t n = 0; n < graph_->nodes().size(); ++n) {
    const Node& node = graph_->nodes()[n];
    const size_t begin = arguments_.size();
    for (ValueId id : node.inputs)
      arguments_.push_back(id ? tensors_[static_cast<size_t>(id.index)] : Tensor{});
    for (ValueId id : node.outputs) arguments_.push_back(tensors_[static_cast<size_t>(id.index)]);
    const std::span<const Tensor> all(arguments_.data() + begin, node.inputs.size() + node.outputs.size());
    Tensor scratch;
    if (plan_.scratch_bytes[n] > 0)
      scratch = {arena_->data() + plan_.scratch_offset[n], {{plan_.scratch_bytes[n] / 4}, DType::kF32}};
    steps_.push_back(
        {node.op.get(), {all.first(node.inputs.size()), all.subspan(node.inputs.size()), scratch}, {}});
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
                      " was not needed and has no memory; mark it as an output");
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
  for (const Step& step : steps_) run(step);
  kernels::check_products();
}

void Program::run(std::span<double> seconds) {
  const CoreForCaller place;
  double before = now_seconds();
  for (size_t n = 0; n < steps_.size(); ++n) {
    run(steps_[n]);
    const double after = now_seconds();
    seconds[static_cast<size_t>(graph_->nodes()[n].part)] += after - before;
    before = after;
  }
  kernels::check_products();
}

void Program::run(Profile& profile) {
  const CoreForCaller place;
  double before = now_seconds();
  for (size_t n = 0; n < steps_.size(); ++n) {
    run(steps_[n]);
    const double after = now_seconds();
    Profile::Entry& entry = profile.by_kind[std::string(steps_[n].op->kind())];
    const Cost cost = steps_[n].op->cost(graph_->signature(graph_->nodes()[n]));
    ++entry.calls;
    entry.seconds += after - before;
    entry.cost.flops += cost.flops;
    entry.cost.bytes += cost.bytes;
    before = now_seconds();
  }
  ++profile.runs;
}

}  // namespace heed::graph
