// One seed of a supernet, in its own folder:
//
//   metrics.jsonl    loss and rates by iteration
//   theta.jsonl      every layer's probabilities over time
//   result.json      the result; with it the seed is done
//   found.json       the recipe to retrain from scratch
//   *.svg            probabilities at the end, and over time
//   checkpoints/     store/checkpoint.h
#pragma once

#include <filesystem>

#include "heed/data/batches.h"
#include "heed/search/supernet/supernet.h"
#include "heed/store/line_log.h"
#include "heed/train/corpus_tokens.h"
#include "heed/train/resuming.h"

namespace heed::search {

struct SeedResult {
  int64_t seed = 0;
  int64_t steps = 0;        // iterations made
  int64_t last_change = 0;  // of the string
  bool converged = false;
  double loss = 0;     // nats per token, an average over the last iterations
  double seconds = 0;  // spent in iterations
  Choice choice;

  static bool is_in(const std::filesystem::path& folder);
  static SeedResult read(const std::filesystem::path& folder, const SupernetSettings& settings);
};
Json to_json(const SeedResult& result);

// The state of a seed besides weights and states of the optimizer.
struct SeedProgress {
  int64_t step = 0;
  train::LossAverage loss;
  int64_t last_change = 0;
  std::string by_layer;
  bool converged = false;
  double seconds = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("step", step, "iterations made");
    loss.visit(field);
    field("last_change", last_change, "iterations made when the string last changed");
    field("by_layer", by_layer, "the string");
    field("converged", converged, "whether the string has stayed for long enough");
    field("seconds", seconds, "spent in iterations");
  }
};

class SeedRun {
 public:
  // Resumes from the folder's last checkpoint, if it has one. `recipe` is the requested one; its seed is
  // replaced by `seed`.
  SeedRun(const spec::Recipe& recipe, int64_t seed, const SupernetSettings& settings, const BlockTimes& times,
          const train::CorpusTokens& text, const std::filesystem::path& folder,
          const std::function<void(const std::string& sentence)>& note);

  const SeedProgress& progress() const { return progress_; }
  bool done() const { return progress_.step == settings_.steps || progress_.converged; }
  Turn step();
  void save();
  void write_result() const;  // when it is done

 private:
  train::StepResult update(int64_t index, const Turn& turn);
  void write_theta(const Choice& choice, double temperature);
  store::Tensors parameters() const {
    return train::tensors_of(*variables_.parameters, supernet_.parameters());
  }
  store::Tensors states() const { return train::tensors_of(variables_.states, supernet_.states()); }

  spec::Recipe asked_, recipe_;
  SupernetSettings settings_;
  std::filesystem::path folder_;
  std::unique_ptr<data::Batches> batches_;
  graph::Variables variables_;
  Supernet supernet_;
  data::BatchSpans weights_batch_, theta_batch_;
  store::LineLog metrics_, theta_;
  SeedProgress progress_;
};

}  // namespace heed::search
