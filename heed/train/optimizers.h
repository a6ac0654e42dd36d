// The list of optimizers, by the name a recipe uses.
#pragma once

#include "heed/base/registry.h"
#include "heed/graph/graph.h"

namespace heed::train {

struct OptimizerEntry {
  std::string name;
  const char* kind;  // of the op that does the step
  const char* meaning;
  std::vector<const char*> moments;  // names of its states: "<parameter>.m"
  Json defaults;  // every setting of the op; learning rate, clipping and schedule are the training loop's

  // Declares its states and adds the op that updates the parameter w and all of them in place, given its
  // gradient g, learning_rate [1], step i32 [1] and clip [1] or kNone (ops/optimizer_step.h). `settings` may
  // omit those with a default. Returns w after the step. Nothing may read w after it.
  graph::ValueId add(graph::Graph& graph, graph::ValueId w, graph::ValueId g, graph::ValueId learning_rate,
                     graph::ValueId step, graph::ValueId clip, const Json& settings = Json::object()) const;
};

const Registry<OptimizerEntry>& optimizers();

}  // namespace heed::train
