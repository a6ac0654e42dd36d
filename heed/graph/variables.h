// The memory that outlives a run: parameters and states, by name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/graph/graph.h"
#include "heed/tensor/buffer.h"

namespace heed::graph {

class NamedTensors {
 public:
  // Adds the graph's values of that role that are not here yet, zeroed, in one buffer. Throws if one is here
  // with another type.
  void allocate(const Graph& graph, Role role);
  bool contains(const std::string& name) const { return tensors_.contains(name); }
  // Throws if there is none of that name.
  Tensor at(const std::string& name) const;
  const std::map<std::string, Tensor>& all() const { return tensors_; }

 private:
  friend struct Variables;
  struct Missing {
    std::vector<const Value*> values;
    int64_t bytes = 0;
  };
  Missing missing(const Graph& graph, Role role) const;
  // Puts them into the buffer from `begin` on. Returns where they end.
  std::byte* add(const Missing& missing, std::shared_ptr<Buffer> buffer, std::byte* begin);

  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::map<std::string, Tensor> tensors_;
};

// The memory of programs besides their arena. Programs that continue each other (prompt and single step)
// share one Variables; those that only use the same weights (two sessions, training and scoring) share
// `parameters` and have their own states.
struct Variables {
  std::shared_ptr<NamedTensors> parameters = std::make_shared<NamedTensors>();
  NamedTensors states = {};

  void allocate(const Graph& graph);
  // Of the graphs' parameters and states that are not here yet.
  int64_t missing_bytes(const std::vector<const Graph*>& graphs) const;
};

}  // namespace heed::graph
