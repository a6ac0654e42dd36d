// A training run from text to model: resumable at any moment, the same bytes however often it was
// interrupted.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "heed/spec/recipe.h"
#include "heed/train/evaluation.h"

namespace heed::train {

struct RunRequest {
  spec::Recipe recipe;
  std::filesystem::path data;
  std::filesystem::path folder;
  double max_seconds = 0;        // leave after so long, 0 for no limit
  double save_seconds = 120;     // between checkpoints
  Json record = Json::object();  // what run.json should say besides seeds and data
  // What the model of that folder writes when it goes on from the tokens; for samples.jsonl, whenever a model
  // was the best so far. An Error is told, and the training goes on.
  std::function<std::string(const std::filesystem::path& model, const std::vector<int32_t>& tokens)> sample;
};

struct StepReport {
  int64_t step = 0, steps = 0;
  double loss = 0;  // an average over the last steps
  double gradient_norm = 0, learning_rate = 0;
  double tokens_per_second = 0, flops_per_second = 0;
  double seconds_left = 0;
};

// Who is told how it goes, and who may stop it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void note(const std::string& sentence) = 0;
  virtual void step(const StepReport& report) = 0;
  virtual void evaluated(int64_t step, const Score& score, double bytes_per_token, bool best) = 0;
  virtual bool stop() = 0;
};

struct RunResult {
  int64_t first = 0, step = 0;  // updates made before this call, and after it
  bool finished = false;        // false: stopped or out of time; the same command goes on
  double best = 0;              // nats per token on the valid part; 0 if there is none
  int64_t best_step = 0;
  double seconds = 0;          // of this call
  double bytes_per_token = 0;  // of the valid part; 0 if there is none
};

// Whether a loss per token is best told in bits: symbols are bytes or characters.
bool counts_bits(const spec::DataSpec& data);

RunResult run_training(const RunRequest& request, RunObserver& observer);

}  // namespace heed::train
