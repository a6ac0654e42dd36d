// The list of optimizers, by the name a recipe uses.
#pragma once

#include <functional>

#include "heed/base/registry.h"
#include "heed/graph/graph.h"

namespace heed::train {

// What one step updates: a parameter, or for an optimizer that works by layer all that one layer has.
struct Updated {
  std::vector<graph::ValueId> parameters, gradients;
  std::vector<int64_t> layer_ends = {};  // in the elements of the parameters; empty: they are one layer
};

struct OptimizerEntry {
  std::string name;
  const char* kind;  // of the op that does the step
  const char* meaning;
  std::vector<const char*> moments;  // names of its states: "<parameter>.m"
  Json defaults;  // every setting; learning rate, clipping and schedule are the training loop's
  // All settings, those left out by their default. Throws for what is not one.
  std::function<Json(const Json& settings)> complete;
  bool by_layer = false;  // it takes norms of layers (model/weights.h)

  // Declares its states and adds the op that updates the parameters and all of them in place, given
  // learning_rate [1], step i32 [1] and clip [1] or kNone (ops/optimizer_step.h). `settings` may omit those
  // with a default. Returns the parameters after the step. Nothing may read them after it.
  std::vector<graph::ValueId> add(graph::Graph& graph, const Updated& updated, graph::ValueId learning_rate,
                                  graph::ValueId step, graph::ValueId clip,
                                  const Json& settings = Json::object()) const;
};

const Registry<OptimizerEntry>& optimizers();

}  // namespace heed::train
