// A model to be timed: synthetic weights, words as frequent as in text.
#pragma once

#include <memory>

#include "heed/measure/timing.h"
#include "heed/model/model.h"

namespace heed::measure {

// Weights without the cost of drawing each number: a few thousand drawn once and repeated. Gates that
// training begins with closed are open, so that all of the model works.
model::Source made_up_weights(const model::Weights& weights);

// What a model is timed at: a prompt of so many tokens, or one more token after them.
struct Work {
  int64_t length = 0;
  bool step = false;
};
model::GraphForm form_of(const spec::ModelSpec& spec, const Work& work);

class TimedModel {
 public:
  TimedModel(const spec::ModelSpec& spec, const model::GraphForm& form,
             const model::Source* weights = nullptr);
  TimedModel(const spec::ModelSpec& spec, const Work& work);

  void run() { program_->run(); }
  // Seconds by section: the frame, then each block.
  std::vector<double> run_sections();
  graph::Program& program() { return *program_; }

 private:
  // `seen`: tokens before those that are run.
  TimedModel(const spec::ModelSpec& spec, const model::GraphForm& form, const model::Source* weights,
             int64_t seen);

  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  size_t sections_;
};

// The graph alone, for counting and planning.
std::shared_ptr<graph::Graph> build_timed(const spec::ModelSpec& spec, const model::GraphForm& form,
                                          model::Model* model = nullptr);

}  // namespace heed::measure
