// A training run from text to model: resumable at any moment, with the same bytes however often it was
// interrupted.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "heed/spec/recipe.h"
#include "heed/train/evaluation.h"
#include "heed/train/resuming.h"
#include "heed/train/text_run.h"

namespace heed::train {

struct RunRequest {
  spec::Recipe recipe;
  std::filesystem::path data;
  std::filesystem::path folder;
  SharedText shared = {};
  // The weights to start from, each read by its name; empty for those of the recipe's initialisation.
  // `record` says as "init" where they are from.
  std::function<void(const std::string& name, const Tensor& into)> initial_weights = {};
  int64_t more_steps = 0;     // updates beyond those of a run that has made all of its own
  double epochs = 0;          // passes over the training text, instead of the recipe's steps; 0 for those
  double max_seconds = 0;     // for the whole run, whose schedule ends with them; 0 for no limit
  int64_t stop_after = 0;     // stop, evaluated, after this many updates in all; 0 for the recipe's
  double save_seconds = 120;  // between checkpoints
  bool leaves_model = true;   // also when stopped between two evaluations
  DType save_dtype = DType::kF32;  // of the weights in the model folder: f32, f16 or bf16
  Json record = Json::object();    // what run.json should say besides seeds and data
  // The model's continuation of the tokens, for samples.jsonl, whenever a model was the best so far. An Error
  // is reported, and the training continues.
  std::function<std::string(const std::filesystem::path& model, const std::vector<int32_t>& tokens)> sample;
};

struct StepReport {
  int64_t step = 0, steps = 0;
  double loss = 0;  // of this step
  double gradient_norm = 0, learning_rate = 0;
  double tokens_per_second = 0, flops_per_second = 0;
  double seconds_left = 0;
};

class RunObserver : public ResumableObserver {
 public:
  // Once the text is open, with the vocabulary that it has, before memory is taken. May throw.
  virtual void begins(const spec::Recipe&) {}
  virtual void step(const StepReport& report) = 0;
  virtual void evaluated(int64_t step, const Score& score, const data::TextCounts& text, bool best) = 0;
};

struct RunResult {
  int64_t first = 0, step = 0;  // updates made before this call, and after it
  bool finished = false;        // false: stopped before its last update; the same command resumes
  double best = 0;              // metric that decides, on the valid part; 0 if there is none
  int64_t best_step = 0;
  double seconds = 0;          // of this call
  data::TextCounts text = {};  // the valid part
};

// Whether a loss per token is shown in bits: symbols are bytes or characters.
bool counts_bits(const spec::DataSpec& spec);

// Updates between evaluations if the recipe leaves it open: about twenty in a run, at least every 1,000, but
// rarely enough that ten times their work is training. 1, 2 or 5 times a power of ten. It depends on sizes
// alone, so that a resumed run does the same.
int64_t usual_interval(int64_t steps, double updates_in_evaluation);

RunResult run_training(const RunRequest& request, RunObserver& observer);

}  // namespace heed::train
