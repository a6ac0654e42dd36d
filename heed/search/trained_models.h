// Random models of a space, trained for real: the ground truth for scores that need no training, on anyone's
// own text.
#pragma once

#include <filesystem>

#include "heed/search/model_table.h"
#include "heed/spec/space.h"
#include "heed/train/run.h"

namespace heed::search {

struct TrainedModelsRequest {
  spec::Space space;  // with how to train
  int64_t models = 0;
  int64_t seed = 1;
  std::filesystem::path data, folder;
  Json record;
};

class TrainedModelsObserver {
 public:
  virtual ~TrainedModelsObserver() = default;
  virtual void begin(int64_t model, const std::string& key) = 0;
  virtual void step(const train::StepReport& report) = 0;
  virtual void note(const std::string& sentence) = 0;
  virtual bool stop() = 0;
};

// One row each, and all of them in models.csv of the folder. Every model is a run in it that goes on where it
// was interrupted. Where vocabularies differ, perplexities are per byte. Stopped: an Error (kInterrupted).
std::vector<TableRow> train_models(const TrainedModelsRequest& request, TrainedModelsObserver& observer);

}  // namespace heed::search
