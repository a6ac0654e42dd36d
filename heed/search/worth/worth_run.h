// What the blocks of a space are worth on a text: a designed sample of its models is trained for a short
// time, and a law is fitted to their losses. Resumable at any moment, with the same law however often it was
// interrupted.
//
//   config.json, run.json, lock      of the whole (store/run_folder.h)
//   m001/, m002/, ..                 one training run each (train/run.h)
//   models.csv                       every model and moment: what the law is fitted to
//   law.json                         the law, and how well it predicts
//   ranking.json                     the same for the report, beside scores that need no training
#pragma once

#include "heed/search/worth/fit.h"
#include "heed/search/worth/short_training.h"

namespace heed::search {

struct WorthSettings {
  int64_t models = 32;
  int64_t tokens = 1 << 19;
  int64_t seed = 1;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("models", models, "models to train");
    field("tokens", tokens, "training tokens per model");
    field("seed", seed, "seed of the choice of models and of their initial weights");
  }
};

struct WorthRequest {
  spec::Space space;
  WorthSettings settings;
  double budget = 15 * 60;  // seconds; no model is begun that would end later
  std::filesystem::path data, folder;
  Json record;
};

struct WorthResult {
  std::vector<ShortTraining> models;  // those that were trained
  Law law;
  LawQuality quality;
};

// The folder's law.json.
Json to_json(const WorthResult& result);

// If interrupted, throws an interrupted Error once everything is saved; the same request resumes.
WorthResult run_worth(const WorthRequest& request, ShortTrainingObserver& observer);

}  // namespace heed::search
