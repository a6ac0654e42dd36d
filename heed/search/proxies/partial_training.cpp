#include "heed/search/proxies/partial_training.h"

#include "heed/train/corpus_tokens.h"
#include "heed/train/evaluation.h"
#include "heed/train/training.h"

namespace heed::search {
namespace {

// Of the held-out text: enough to tell models apart, and little beside the updates.
constexpr int64_t kHeldOutTokens = 1 << 15;
constexpr double kDiverged = -1e9;  // worse than any

// Minus the nats per byte, so that models with different vocabularies compare. The schedule is shortened with
// the training, with a tenth of it for the warm-up, as the public code does.
double partial_training(const spec::ModelSpec& model, const Batch& batch) {
  if (!batch.lesson) throw usage_error("partial_training learns from a text; give one with --data PATH");
  const Lesson& lesson = *batch.lesson;
  graph::Variables variables;
  train::Trainer trainer(model, lesson.training, variables);
  spec::Recipe recipe;
  recipe.data = lesson.data;
  recipe.training = lesson.training;
  const auto batches = train::training_batches(recipe, lesson.train);
  for (int64_t step = 0; step < lesson.training.steps; ++step) {
    const int64_t seen = train::seen_before(lesson.training, *batches, step);
    try {
      trainer.step(step + 1, seen, [&](int64_t chunk, std::span<int32_t> tokens, std::span<int32_t> targets) {
        batches->fill(step, chunk, tokens, targets);
      });
    } catch (const Error&) {  // the loss is not finite: one such model does not end a search
      return kDiverged;
    }
  }
  const spec::EvaluationSpec protocol = train::held_out_protocol(lesson.training, lesson.valid);
  train::Scorer scorer(model, protocol, variables, false);
  const auto held_out = train::scoring_batches(protocol, lesson.valid);
  const double bytes_per_token =
      static_cast<double>(lesson.valid.text_bytes()) / static_cast<double>(lesson.valid.size());
  return -scorer.run(*held_out, kHeldOutTokens).mean() / bytes_per_token;
}

}  // namespace

Proxy partial_training_proxy() {
  return {"partial_training", "minus the loss on held-out text after a few updates", true, partial_training};
}

}  // namespace heed::search
