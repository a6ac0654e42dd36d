// A model that is there to be timed: weights made up, words as frequent as in text.
#pragma once

#include <memory>

#include "heed/measure/timing.h"
#include "heed/model/model.h"

namespace heed::measure {

// A whole prompt of `length` tokens, to the scores of the next one: what a reader waits for.
model::Use prompt_use(int64_t length);

// Weights without the cost of drawing each number: one draw of a few thousand, over and over. Attention
// inside a recurrence, which training begins without, is on.
model::Source made_up_weights(const model::Weights& weights);

class TimedModel {
 public:
  TimedModel(const spec::ModelSpec& spec, const model::Use& use, const model::Source* weights = nullptr);

  void run() { program_->run(); }
  // Seconds by part: the frame, then each block.
  std::vector<double> run_parts();
  graph::Program& program() { return *program_; }

 private:
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  size_t parts_;
};

// A round of whole prompts: the model is made, warmed up and run so often.
struct WholeTiming {
  Timing timing;
  int64_t bytes = 0;  // the process grew by
};
WholeTiming time_whole(const spec::ModelSpec& spec, int64_t length, int runs = 5);

// The graph alone, for counting and planning.
std::shared_ptr<graph::Graph> build_timed(const spec::ModelSpec& spec, const model::Use& use,
                                          model::Model* model = nullptr);

}  // namespace heed::measure
