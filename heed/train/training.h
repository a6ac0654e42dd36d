// One training step as one graph: forward, backward, clipping, optimizer.
#pragma once

#include "heed/graph/program.h"
#include "heed/model/gpt2.h"
#include "heed/spec/model_spec.h"

namespace heed::train {

struct TrainingSpec {
  int64_t batch = 8;
  int64_t length = 128;
  int64_t steps = 200;
  std::string optimizer = "adamw";
  double learning_rate = 1e-3;
  double final_share = 0.1;
  int64_t warmup = 20;
  double weight_decay = 0.1;
  bool decay_all = false;
  double clip = 1;
  int64_t seed = 1;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("batch", batch, "sequences per step B");
    field("length", length, "tokens per sequence T");
    field("steps", steps, "updates to make");
    field("optimizer", optimizer, "name of the update rule");
    field("learning_rate", learning_rate, "largest learning rate, after the warm-up");
    field("final_share", final_share, "learning rate at the last step as a share of the largest");
    field("warmup", warmup, "steps over which the rate grows from 0");
    field("weight_decay", weight_decay, "pull of the weights towards 0");
    field("decay_all", decay_all, "let gains and biases decay as well as matrices");
    field("clip", clip, "largest norm of all gradients together, 0 for no limit");
    field("seed", seed, "of the first weights and of dropout");
  }
};

// Throws an Error that names the first setting that makes no sense.
void validate(const TrainingSpec& spec);

// Linear warm-up, then half a cosine down to the least rate. step counts from 1.
double learning_rate_at(const TrainingSpec& spec, int64_t step);

struct StepResult {
  double loss = 0;           // nats per token, before the update
  double gradient_norm = 0;  // before clipping
};

class Trainer {
 public:
  // New weights from the seed, unless `variables` holds the parameters already.
  Trainer(const spec::ModelSpec& model, const TrainingSpec& training, graph::Variables& variables);

  // Where the caller writes the batch: tokens [B, T], targets [B*T].
  Tensor tokens() const { return program_->input("tokens"); }
  Tensor targets() const { return program_->input("targets"); }
  // One update with the batch that was written; `step` counts from 1. A loss that is not finite throws an
  // Error.
  StepResult step(int64_t step, graph::Profile* profile = nullptr);

  graph::Program& program() { return *program_; }
  const model::Gpt2& model() const { return model_; }

 private:
  TrainingSpec spec_;
  model::Gpt2 model_;
  graph::ValueId norm_;
  std::unique_ptr<graph::Program> program_;
};

// The graph of a training step, to be counted and planned without running it.
struct TrainingGraph {
  std::shared_ptr<graph::Graph> graph;
  model::Gpt2 model;
  graph::ValueId norm;
};
TrainingGraph build_training_graph(const spec::ModelSpec& model, const TrainingSpec& training);

// Scores batches without training on them.
class Evaluator {
 public:
  Evaluator(const spec::ModelSpec& model, model::Batch batch, graph::Variables& variables);
  Tensor tokens() const { return program_->input("tokens"); }
  Tensor targets() const { return program_->input("targets"); }
  double run();  // the mean loss of the batch that was written
  graph::Program& program() { return *program_; }

 private:
  model::Gpt2 model_;
  std::unique_ptr<graph::Program> program_;
};

}  // namespace heed::train
