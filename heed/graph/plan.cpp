#include "heed/graph/plan.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/graph/placement.h"
#include "heed/tensor/buffer.h"

namespace heed::graph {
namespace {

class Planner {
 public:
  explicit Planner(const Graph& graph) : graph_(graph), block_of_(graph.values().size(), -1) {}

  Plan run() {
    find_last_uses();
    const int end = static_cast<int>(graph_.nodes().size());
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const Value& value = graph_.values()[i];
      if (value.role == Role::kComputed) continue;
      const bool inside = value.role == Role::kInput;  // inputs are written before the first node
      block_of_[i] = add({align_up(value.type.bytes()), -1, inside ? end : -1,
                          inside ? kNone : ValueId{static_cast<int32_t>(i)}, -1});
    }
    std::vector<int> scratch_block(graph_.nodes().size(), -1);
    std::vector<int64_t> scratch(graph_.nodes().size());
    for (int n = 0; n < end; ++n) {
      const Node& node = graph_.nodes()[static_cast<size_t>(n)];
      const Signature signature = graph_.signature(node);
      for (const Alias& alias : node.op->aliases(signature)) share(n, node, alias);
      for (ValueId id : node.outputs) {
        int& block = block_of_[index(id)];
        if (block < 0) block = add({align_up(graph_.value(id).type.bytes()), n, n, kNone, -1});
        MemoryBlock& b = blocks_[static_cast<size_t>(block)];
        b.last = std::max(b.last, last_use_[index(id)]);
      }
      scratch[static_cast<size_t>(n)] = node.op->scratch_bytes(signature);
      scratch_block[static_cast<size_t>(n)] =
          add({align_up(scratch[static_cast<size_t>(n)]), n, n, kNone, -1});
    }
    return result(scratch_block, std::move(scratch));
  }

 private:
  static size_t index(ValueId id) { return static_cast<size_t>(id.index); }

  int add(MemoryBlock block) {
    blocks_.push_back(block);
    return static_cast<int>(blocks_.size()) - 1;
  }

  void find_last_uses() {
    last_use_.assign(graph_.values().size(), -1);
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      for (ValueId id : graph_.nodes()[n].outputs) last_use_[index(id)] = static_cast<int>(n);
      for (ValueId id : graph_.nodes()[n].inputs) {
        if (id) last_use_[index(id)] = static_cast<int>(n);
      }
    }
    for (ValueId id : graph_.outputs()) last_use_[index(id)] = static_cast<int>(graph_.nodes().size());
  }

  // Gives the output the input's memory if that is required, or if no node reads the input afterwards.
  void share(int n, const Node& node, const Alias& alias) {
    if (static_cast<size_t>(alias.input) >= node.inputs.size() ||
        static_cast<size_t>(alias.output) >= node.outputs.size())
      return;
    const ValueId in = node.inputs[static_cast<size_t>(alias.input)],
                  out = node.outputs[static_cast<size_t>(alias.output)];
    if (!in || block_of_[index(out)] >= 0) return;
    const bool fits = graph_.value(in).type.bytes() == graph_.value(out).type.bytes();
    const Role role = graph_.value(in).role;
    // Inputs of the program stay for the next run.
    const bool dead = last_use_[index(in)] <= n && !read_twice(node, in) && role != Role::kInput;
    if (alias.required) {
      HEED_ASSERT(fits);
      if (!dead && (role == Role::kComputed || role == Role::kInput)) {
        copies_.push_back({n, alias.input, alias.output});
        return;
      }
      if (!dead)
        throw usage_error("plan: ", node.op->kind(), " ", n, " overwrites ", graph_.describe(in),
                          ", which is still read by a later node");
    } else if (!fits || !dead || role != Role::kComputed ||
               blocks_[static_cast<size_t>(block_of_[index(in)])].outside) {
      return;
    }
    const int block = block_of_[index(in)];
    HEED_ASSERT(block >= 0);
    const bool taken = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [&](ValueId other) { return block_of_[index(other)] == block; });
    if (taken) return;  // by another output of this node
    block_of_[index(out)] = block;
  }

  static bool read_twice(const Node& node, ValueId id) {
    return std::count(node.inputs.begin(), node.inputs.end(), id) > 1;
  }

  Plan result(const std::vector<int>& scratch_block, std::vector<int64_t> scratch) {
    Plan plan;
    plan.memory.arena = place(blocks_);
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const Value& value = graph_.values()[i];
      if (value.role == Role::kParameter) plan.memory.weights += align_up(value.type.bytes());
      if (value.role == Role::kState) plan.memory.state += align_up(value.type.bytes());
      const MemoryBlock* block = block_of_[i] >= 0 ? &blocks_[static_cast<size_t>(block_of_[i])] : nullptr;
      plan.lives_in.push_back(block ? block->outside : kNone);
      plan.offset.push_back(block && !block->outside ? block->offset : -1);
    }
    for (int block : scratch_block) plan.scratch_offset.push_back(blocks_[static_cast<size_t>(block)].offset);
    plan.scratch_bytes = std::move(scratch);
    plan.copies = std::move(copies_);
    return plan;
  }

  const Graph& graph_;
  std::vector<MemoryBlock> blocks_;
  std::vector<Plan::Copy> copies_;
  std::vector<int> block_of_;  // by value
  std::vector<int> last_use_;  // by value: index of the last node that touches it
};

}  // namespace

Plan plan(const Graph& graph) { return Planner(graph).run(); }

}  // namespace heed::graph
