// One update as one graph: forward, backward, clipping, optimizer. A batch in chunks is two: one that adds up
// gradients, run per chunk, and one that uses the sum.
#pragma once

#include <memory>

#include "heed/graph/plan.h"
#include "heed/model/cursor.h"
#include "heed/spec/model_spec.h"
#include "heed/spec/training_spec.h"

namespace heed::train {

struct TrainingGraph;
// Of updates that take turns on the same weights and states; their gradients share one arena.
graph::Memory memory_of(std::initializer_list<const TrainingGraph*> updates);
// Bytes that the plan of a training may take here and now; matrix products need some beside it.
int64_t available_for_training();

// The graphs of an update, to be counted and planned without running them.
struct TrainingGraph {
  std::shared_ptr<graph::Graph> gradients;
  std::shared_ptr<graph::Graph> update;  // null where one graph does it all
  model::Model model;
  model::Use use;
  graph::ValueId norm;

  graph::Memory memory() const { return memory_of({this}); }
  double flops() const;  // of a whole update
};
// What an update is to make better, and what it changes for that. Where nothing is said: the model's loss, by
// all parameters.
struct Objective {
  std::function<graph::ValueId(graph::Graph& graph, const model::Model& model)> loss;
  std::function<bool(Part part)> changes;
};
TrainingGraph build_training_graph(const spec::ModelSpec& model, const spec::TrainingSpec& training,
                                   const Objective& objective = {});

struct StepResult {
  double loss = 0;           // nats per token, before the update
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
};

class Trainer {
 public:
  // Writes chunk `chunk` of the batch: tokens [B/chunks, T], targets [B/chunks * T].
  using Fill = std::function<void(int64_t chunk, std::span<int32_t> tokens, std::span<int32_t> targets)>;

  // New weights from the seed, unless `variables` holds the parameters already.
  Trainer(const spec::ModelSpec& model, const spec::TrainingSpec& training, graph::Variables& variables);
  // The same with a graph that was built before; `arena` as a Program takes it.
  Trainer(TrainingGraph graph, const spec::TrainingSpec& training, graph::Variables& variables,
          std::shared_ptr<Buffer> arena = nullptr);

  // One update; `step` counts from 1. `seen` tells how many tokens of the present streams came before; 0
  // begins new ones. A loss that is not finite throws an Error; the weights in memory are spoilt then.
  StepResult step(int64_t step, int64_t seen, const Fill& fill, graph::Profile* profile = nullptr);

  const graph::Graph& graph() const { return *graph_.gradients; }
  // An input that an objective or a supernet added, to be written before each step.
  Tensor input(const std::string& name) const { return program_->input(name); }
  // Names of what an update changes: parameters, and everything else that carries on to the next. Sums of
  // gradients do not: every update begins them anew.
  std::vector<std::string> parameters() const { return names(graph::Role::kParameter); }
  std::vector<std::string> states() const { return names(graph::Role::kState); }
  graph::Memory memory() const { return graph_.memory(); }
  double flops() const { return graph_.flops(); }

 private:
  std::vector<std::string> names(graph::Role role) const;

  spec::TrainingSpec spec_;
  graph::Variables& variables_;
  TrainingGraph graph_;
  std::unique_ptr<graph::Program> program_, update_;
};

}  // namespace heed::train
