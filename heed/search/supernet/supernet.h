// A model in which every layer is all of its possible blocks at once, mixed (Mandava and others 2020,
// equation 6), and the two updates that train it: of the weights, and of the logits that choose the
// blocks.
#pragma once

#include "heed/search/supernet/choice.h"
#include "heed/search/supernet/schedule.h"
#include "heed/spec/recipe.h"
#include "heed/train/training.h"

namespace heed::search {

// The recipe's model with `layers` layers that may each be any of the letters. Norms come first in it
// whatever the recipe says: after the sum, identity alone would not be normed.
spec::ModelSpec supernet_of(const spec::ModelSpec& model, const SupernetSettings& settings);
// The baseline of the papers: attention and feed-forward interleaved, with as many layers.
spec::ModelSpec interleaved_of(const spec::ModelSpec& model, int64_t layers);
// The recipe with the blocks that were found, and nothing else changed.
spec::Recipe retraining_of(spec::Recipe recipe, const std::string& blocks);

// How long the blocks take, in seconds, for the latency term.
struct BlockTimes {
  double frame = 0;            // embedding and output
  std::vector<double> blocks;  // by letter
  template <class Visitor>
  void visit(Visitor&& field) {
    field("frame", frame, "seconds of embedding and output");
    field("blocks", blocks, "seconds of each letter's block");
  }
};

// Both updates as graphs, to be counted and planned without running them.
struct SupernetGraphs {
  spec::TrainingSpec weights_training, theta_training;
  train::TrainingGraph weights, theta;
  graph::ValueId times;  // input of theta, [1 + choices]: microseconds of the frame and of each choice

  // One arena serves both.
  graph::Memory memory() const;
  double flops(const SupernetSchedule& schedule) const;  // of all iterations
};
SupernetGraphs build_supernet(const spec::Recipe& recipe, const SupernetSettings& settings,
                              const SupernetSchedule& schedule);

class Supernet {
 public:
  // `times` are needed if the settings have a latency term.
  Supernet(const spec::Recipe& recipe, const SupernetSettings& settings, graph::Variables& variables,
           const BlockTimes& times = {});

  const SupernetSchedule& schedule() const { return schedule_; }
  // Iteration `index`, from 0; `seen` and `fill` as Trainer::step takes them.
  train::StepResult step(int64_t index, int64_t seen, const train::Trainer::Fill& fill);
  // What an update of the logits, or of the weights, reads.
  const Batch& batch(bool theta) const { return (theta ? theta_ : weights_)->batch(); }
  Choice choice() const;
  // Everything that an iteration may change.
  std::vector<std::string> parameters() const { return weights_->parameters(); }
  std::vector<std::string> states() const;

 private:
  SupernetSettings settings_;
  SupernetSchedule schedule_;
  graph::Variables& variables_;
  std::unique_ptr<train::Trainer> weights_, theta_;
  graph::ValueId times_input_;
  std::vector<float> times_;  // as the latency term takes them; empty without
};

}  // namespace heed::search
