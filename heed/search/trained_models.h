// Random models of a space, trained: the ground truth for scores that need no training, on the user's own
// text.
#pragma once

#include <filesystem>

#include "heed/search/model_table.h"
#include "heed/search/worth/short_training.h"
#include "heed/spec/space.h"

namespace heed::search {

struct TrainedModelsRequest {
  spec::Space space;  // with how to train
  int64_t models = 0;
  int64_t seed = 1;
  std::filesystem::path data, folder;
  Json record;
};

// One row each, and all of them in models.csv of the folder. Every model is a run in it that resumes where it
// was interrupted. If vocabularies differ, perplexities are per byte. Throws an interrupted Error when
// stopped.
std::vector<TableRow> train_models(const TrainedModelsRequest& request, ShortTrainingObserver& observer);

}  // namespace heed::search
