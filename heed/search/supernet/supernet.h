// A model in which every layer is all of its possible blocks at once, mixed (Mandava and others 2020,
// equation 6), and the two updates that train it: of the weights, and of the logits that say which block is
// wanted.
#pragma once

#include "heed/search/supernet/choice.h"
#include "heed/search/supernet/course.h"
#include "heed/spec/recipe.h"
#include "heed/train/training.h"

namespace heed::search {

// The recipe's model with `layers` layers that may each be any of the letters. Norms come first in it
// whatever the recipe says: after the sum, identity alone would go without.
spec::ModelSpec supernet_of(const spec::ModelSpec& model, const SupernetSettings& settings);
// What the papers hold it against: attention and feed-forward in turn, as many layers.
spec::ModelSpec interleaved_of(const spec::ModelSpec& model, int64_t layers);
// The recipe with the blocks that were found, and nothing else changed.
spec::Recipe retraining_of(spec::Recipe recipe, const std::string& blocks);

// How long the blocks take, in seconds: what the latency term weighs.
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

  // One arena serves both.
  graph::Memory memory() const;
  double flops(const Course& course) const;  // of all iterations
};
SupernetGraphs build_supernet(const spec::Recipe& recipe, const SupernetSettings& settings,
                              const Course& course);

class Supernet {
 public:
  // `times` are needed where the settings have a latency term.
  Supernet(const spec::Recipe& recipe, const SupernetSettings& settings, graph::Variables& variables,
           const BlockTimes& times = {});

  const Course& course() const { return course_; }
  // Iteration `index`, from 0; `seen` and `fill` as Trainer::step takes them.
  train::StepResult step(int64_t index, int64_t seen, const train::Trainer::Fill& fill);
  Choice choice() const;
  // Everything that an iteration may change.
  std::vector<std::string> parameters() const { return weights_->parameters(); }
  std::vector<std::string> states() const;

 private:
  SupernetSettings settings_;
  Course course_;
  graph::Variables& variables_;
  std::unique_ptr<train::Trainer> weights_, theta_;
  std::vector<float> times_;  // as the latency term takes them; empty without
};

}  // namespace heed::search
