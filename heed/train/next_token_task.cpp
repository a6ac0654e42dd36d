// Streams of text, each token predicted from those before it.
#include "heed/data/sentence_batches.h"
#include "heed/train/tasks.h"

namespace heed::train {
namespace {

std::unique_ptr<data::Batches> training_batches(const spec::Recipe& recipe, const data::TokenStream& stream) {
  const spec::TrainingSpec& training = recipe.training;
  const data::BatchShape shape{training.batch, training.length, training.chunks};
  const auto seed = static_cast<uint64_t>(training.seed);
  if (recipe.data.tokenizer == "lm1b") return std::make_unique<data::SentenceBatches>(stream, shape, seed);
  return std::make_unique<data::StreamBatches>(
      stream, shape, data::StreamOptions{.roll = training.roll, .seed = seed, .short_segment = false});
}

std::unique_ptr<data::Batches> scoring_batches(const spec::EvaluationSpec& protocol,
                                               const data::TokenStream& stream) {
  return std::make_unique<data::StreamBatches>(
      stream, data::BatchShape{protocol.batch, protocol.length, 1},
      data::StreamOptions{.warm_up_tokens = protocol.warm_up ? protocol.memory : 0});
}

}  // namespace

Task next_token_task() {
  return {"next-token", "which token follows, on streams of text", "next-token", training_batches,
          scoring_batches};
}

}  // namespace heed::train
