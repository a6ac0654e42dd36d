// The tasks of models: how text becomes batches, which head scores them and what is measured. A new task is
// its file and one line in tasks.cpp.
#pragma once

#include <memory>

#include "heed/base/registry.h"
#include "heed/data/batches.h"
#include "heed/spec/recipe.h"
#include "heed/train/corpus_tokens.h"
#include "heed/train/meter.h"

namespace heed::train {

struct Task {
  std::string name;
  const char* meaning;
  const char* head;  // that it trains (model/heads.h)
  // The text must outlive the batches.
  std::unique_ptr<data::Batches> (*training_batches)(const spec::Recipe& recipe, const CorpusTokens& text);
  std::unique_ptr<data::Batches> (*scoring_batches)(const spec::EvaluationSpec& protocol,
                                                    const CorpusTokens& text, data::Split split);
  // Measures a model that reads the batch.
  std::unique_ptr<Meter> (*meter)(const Batch& batch);
};
const Registry<Task>& tasks();
// The task that the model is trained for. Throws if the model has another head.
const Task& task_of(const spec::ModelSpec& model, const spec::TrainingSpec& training);

Task next_token_task();

}  // namespace heed::train
