#include "heed/search/proxies/partial_training.h"

#include "heed/train/corpus_tokens.h"
#include "heed/train/evaluation.h"
#include "heed/train/tasks.h"
#include "heed/train/training.h"

namespace heed::search {
namespace {

// Of the held-out text: enough to distinguish models, and little compared with the updates.
constexpr int64_t kHeldOutTokens = 1 << 15;
constexpr double kDiverged = -1e9;  // worse than any

// Minus the nats per byte, so that models with different vocabularies compare. The schedule is shortened with
// the training, with a tenth of it for the warm-up, as the public code does.
double partial_training(const spec::ModelSpec& model, const ProxyInput& batch) {
  HEED_ASSERT(batch.text);
  const TrainingText& text = *batch.text;
  graph::Variables variables;
  train::Trainer trainer(model, text.training, variables);
  spec::Recipe recipe;
  recipe.data = text.data;
  recipe.training = text.training;
  const train::Task& task = train::task_of(model, text.training);
  const auto batches = task.training_batches(recipe, text.tokens);
  const data::BatchSpans to = batches->find(trainer.batch());
  for (int64_t step = 0; step < text.training.steps; ++step) {
    batch.tick();
    const int64_t seen = train::seen_before(text.training, *batches, step);
    try {
      trainer.step(step + 1, seen, [&](int64_t chunk, const Batch&) { batches->fill(step, chunk, to); });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kDiverged) throw;
      return kDiverged;  // one diverged model does not end a search
    }
  }
  const data::TokenStream& valid = text.tokens.stream(text.held_out);
  const spec::EvaluationSpec protocol = train::held_out_protocol(text.training, valid);
  train::Scorer scorer(task, model, protocol, variables.parameters, model::WeightForm::kPlain);
  const auto held_out = task.scoring_batches(protocol, text.tokens, text.held_out);
  return -scorer.run(*held_out, kHeldOutTokens).mean() / valid.counts().bytes_per_token();
}

}  // namespace

Proxy partial_training_proxy() {
  Proxy proxy{"partial_training", "minus the loss on held-out text after a few updates", true,
              partial_training};
  proxy.needs_text = true;
  return proxy;
}

}  // namespace heed::search
