// One update as one graph: forward, backward, clipping, optimizer. With chunks there are two graphs: one that
// sums the gradients, run per chunk, and one that uses the sum.
#pragma once

#include <memory>

#include "heed/graph/plan.h"
#include "heed/model/cursor.h"
#include "heed/spec/model_spec.h"
#include "heed/spec/training_spec.h"

namespace heed::train {

struct TrainingGraph;
// Of updates that alternate on the same weights and states; their gradients share one arena.
graph::Memory memory_of(std::initializer_list<const TrainingGraph*> updates);
// Bytes that the plan of a training may use now; matrix products need some more.
int64_t available_for_training();

// The graphs of an update, to be counted and planned without running them.
struct TrainingGraph {
  std::shared_ptr<graph::Graph> gradients;
  std::shared_ptr<graph::Graph> update;  // null if there is only one graph
  model::Model model;
  model::GraphForm form;
  graph::ValueId learning_rate, step, norm;  // of `update`, or of the one graph

  graph::Memory memory() const { return memory_of({this}); }
  double flops() const;  // of a whole update
};
// What an update minimises, and what it changes. The default is the model's loss, by all parameters.
struct Objective {
  std::function<graph::ValueId(graph::Graph& graph, const model::Model& model)> loss;
  std::function<bool(WeightGroup group)> changes;
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
  // Writes one chunk into `to`, which is batch(): the places in it can be found once, before the first step.
  using Fill = std::function<void(int64_t chunk, const Batch& to)>;

  // New weights from the seed, unless `variables` holds the parameters already.
  Trainer(const spec::ModelSpec& model, const spec::TrainingSpec& training, graph::Variables& variables);
  // The same with a graph that was built before; `arena` as a Program takes it.
  Trainer(TrainingGraph graph, const spec::TrainingSpec& training, graph::Variables& variables,
          std::shared_ptr<Buffer> arena = nullptr);

  // One update; `step` counts from 1. `seen` is the number of earlier tokens of the current streams; 0
  // starts new ones. Throws if the loss is not finite; the weights in memory are then invalid.
  StepResult step(int64_t step, int64_t seen, const Fill& fill, graph::Profile* profile = nullptr) {
    return step_at(static_cast<double>(step), step, seen, fill, profile);
  }
  // The same with the learning rate of another moment of the schedule.
  StepResult step_at(double position, int64_t step, int64_t seen, const Fill& fill,
                     graph::Profile* profile = nullptr);

  const graph::Graph& graph() const { return *graph_.gradients; }
  const model::Weights& weights() const { return graph_.model.weights; }
  // What an update reads; the same memory for every step.
  const Batch& batch() const { return batch_; }
  // Inputs that the caller writes before each step: a supernet's temperature, and what an objective added.
  const model::InputSpans& inputs() const { return inputs_; }
  Tensor input(graph::ValueId id) const { return program_->tensor(id); }
  // Names of what an update changes: parameters, and everything else that the next one needs. Sums of
  // gradients are not among them: every update starts them again.
  std::vector<std::string> parameters() const { return names(graph::Role::kParameter); }
  std::vector<std::string> states() const { return names(graph::Role::kState); }
  graph::Memory memory() const { return graph_.memory(); }
  double flops() const { return graph_.flops(); }

 private:
  std::vector<std::string> names(graph::Role role) const;

  spec::TrainingSpec spec_;
  TrainingGraph graph_;
  std::unique_ptr<graph::Program> program_, update_;
  Batch batch_;
  model::InputSpans inputs_;
  std::unique_ptr<model::Cursor> cursor_;
  float* learning_rate_;
  int32_t* step_;
};

}  // namespace heed::train
