// Reading 3 of the graph: run it. A Program is a graph with its plan and its memory; heed allocates nothing
// in running it (oneDNN takes and returns packing buffers inside its products).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/graph/graph.h"
#include "heed/graph/plan.h"
#include "heed/tensor/buffer.h"

namespace heed::graph {

// The memory that outlives a run: parameters and states, by name. Several programs (training and evaluation,
// prompt and single step) may share one set.
class Variables {
 public:
  // Room for the graph's parameters and states that are not here yet, zeroed, in one buffer.
  void allocate(const Graph& graph);
  // The variable of that name; an Error if there is none.
  Tensor at(const std::string& name) const;
  const std::map<std::string, Tensor>& all() const { return tensors_; }

 private:
  std::vector<Buffer> buffers_;
  std::map<std::string, Tensor> tensors_;
};

// Time spent per op kind, for `heed bench --profile`.
struct Profile {
  struct Entry {
    int64_t calls = 0;
    double seconds = 0;
    Cost cost;
  };
  std::map<std::string, Entry> by_kind;
  int64_t runs = 0;
};

// Working memory for programs that never run at the same time: as large as the largest needs. An Error if
// the system has not that much, nor what the variables lack.
std::shared_ptr<Buffer> shared_arena(const std::vector<const Graph*>& graphs, const Variables& variables);

class Program {
 public:
  // The variables are allocated if need be and must outlive the program. With a shared arena inputs are to be
  // written anew for each run.
  Program(std::shared_ptr<const Graph> graph, Variables& variables, std::shared_ptr<Buffer> arena = nullptr);

  const Graph& graph() const { return *graph_; }
  const Memory& memory() const { return plan_.memory; }
  // The memory of a value: inputs to fill before run(), outputs to read after it. Other computed values may
  // have been overwritten by then; one that the graph no longer makes is an Error.
  Tensor tensor(ValueId id) const;
  Tensor input(const std::string& name) const;

  void run();
  // As run(), and adds the time of each node to `profile`.
  void run(Profile& profile);
  // As run(), and adds to seconds[part] the time of its nodes.
  void run(std::span<double> seconds);

 private:
  struct Step {
    const Op* op;
    Run run;
    std::vector<std::pair<Tensor, Tensor>> copies;  // from, to: before the op runs (Plan::copies)
  };
  static void run(const Step& step);

  std::shared_ptr<const Graph> graph_;
  Plan plan_;
  std::shared_ptr<Buffer> arena_;
  std::vector<Tensor> tensors_;    // by value
  std::vector<Tensor> arguments_;  // inputs and outputs of all steps, one after the other
  std::vector<Step> steps_;
};

}  // namespace heed::graph
