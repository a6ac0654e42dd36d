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
  virtual void step(const StepReport& report) = 0;
  virtual void evaluated(int64_t step, const Score& score, double bytes_per_token, bool best) = 0;
};

struct RunResult {
  int64_t first = 0, step = 0;  // updates made before this call, and after it
  bool finished = false;        // false: stopped before its last update; the same command resumes
  double best = 0;              // metric that decides, on the valid part; 0 if there is none
  int64_t best_step = 0;
  double seconds = 0;          // of this call
  double bytes_per_token = 0;  // of the valid part; 0 if there is none
};

// Whether a loss per token is shown in bits: symbols are bytes or characters.
bool counts_bits(const spec::DataSpec& spec);

RunResult run_training(const RunRequest& request, RunObserver& observer);

}  // namespace heed::train
