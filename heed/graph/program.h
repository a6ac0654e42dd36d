// Reading 3 of the graph: run it. A Program is a graph with its plan and its memory; heed allocates nothing
// while running it (oneDNN allocates and frees packing buffers inside its products).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/graph/graph.h"
#include "heed/graph/plan.h"
#include "heed/graph/variables.h"

namespace heed::graph {

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

// Working memory for programs that never run at the same time: as large as the largest needs. Throws if there
// is not enough memory for it and the missing variables.
std::shared_ptr<Buffer> shared_arena(const std::vector<const Graph*>& graphs, const Variables& variables);

class Program {
 public:
  // The variables are allocated if necessary and must outlive the program. With a shared arena, write the
  // inputs again for each run.
  Program(std::shared_ptr<const Graph> graph, Variables& variables, std::shared_ptr<Buffer> arena = nullptr);

  const Graph& graph() const { return *graph_; }
  const Memory& memory() const { return plan_.memory; }
  // The memory of a value: inputs to fill before run(), outputs to read after it. Other computed values may
  // have been overwritten by then. Throws for one that the graph no longer computes.
  Tensor tensor(ValueId id) const;
  Tensor input(const std::string& name) const;

  // Throws if a matrix product could not allocate memory; the outputs are then invalid.
  void run();
  // As run(), and adds the time of each node to `profile`.
  void run(Profile& profile);
  // As run(), and adds to seconds[section] the time of its nodes.
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
  std::vector<Tensor> tensors_;        // by value
  std::vector<Tensor> arguments_;      // inputs and outputs of all steps, one after the other
  std::vector<Signature> signatures_;  // of all steps
  std::vector<Step> steps_;
};

}  // namespace heed::graph
