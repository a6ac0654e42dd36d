// Scoring: how well a model predicts a text, by a stated protocol.
#pragma once

#include <functional>
#include <memory>

#include "heed/model/cursor.h"
#include "heed/spec/training_spec.h"
#include "heed/train/tasks.h"

namespace heed::train {

// The protocol in words, to be printed with every number.
std::string describe(const spec::EvaluationSpec& protocol);

class Scorer {
 public:
  // The parameters are shared; the states are its own. The task's meter measures.
  Scorer(const Task& task, const spec::ModelSpec& model, const spec::EvaluationSpec& protocol,
         std::shared_ptr<graph::NamedTensors> parameters, model::WeightForm weights);

  const graph::Graph& graph() const { return program_->graph(); }
  const model::Weights& weights() const { return model_.weights; }
  graph::Memory memory() const { return program_->memory(); }

  // From the beginning of the text to its end, or until `most` tokens are counted (0: all). `progress` gets
  // the segments done and returns false to stop; batch() and losses() are then those of the last of them.
  Score run(data::Batches& batches, int64_t most = 0, const std::function<bool(int64_t done)>& progress = {});

  const Batch& batch() const { return batch_; }
  std::span<const float> losses() const { return program_->tensor(model_.losses).floats(); }

 private:
  std::unique_ptr<Meter> (*meter_)(const Batch& batch);
  model::GraphForm form_;
  model::Model model_;
  graph::Variables variables_;
  std::unique_ptr<graph::Program> program_;
  Batch batch_;
  model::InputSpans inputs_;
  std::unique_ptr<model::Cursor> cursor_;
};

}  // namespace heed::train
