// Streams of text, each token predicted from those before it.
#include "heed/data/sentence_batches.h"
#include "heed/train/tasks.h"

namespace heed::train {
namespace {

std::unique_ptr<data::Batches> training_batches(const spec::Recipe& recipe, const CorpusTokens& text) {
  const spec::TrainingSpec& training = recipe.training;
  const data::BatchShape shape{training.batch, training.length, training.chunks};
  const auto seed = static_cast<uint64_t>(training.seed);
  const data::TokenStream& stream = text.stream(data::Split::kTrain);
  if (text.tokenizer->lines_are_unrelated()) {
    if (training.short_segment)
      throw usage_error("training: short_segment is true, but the sentences of ", text.tokenizer->kind(),
                        " are drawn one by one and leave no segment; set it to false");
    return std::make_unique<data::SentenceBatches>(stream, shape, seed);
  }
  return std::make_unique<data::StreamBatches>(
      stream, shape,
      data::StreamOptions{.roll = training.roll, .seed = seed, .short_segment = training.short_segment});
}

std::unique_ptr<data::Batches> scoring_batches(const spec::EvaluationSpec& protocol, const CorpusTokens& text,
                                               data::Split split) {
  return std::make_unique<data::StreamBatches>(
      text.stream(split), data::BatchShape{protocol.batch, protocol.length, 1},
      data::StreamOptions{.warm_up_tokens = protocol.warm_up ? protocol.memory : 0});
}

std::unique_ptr<Meter> meter(const Batch& batch) { return std::make_unique<LossMeter>(batch); }

}  // namespace

Task next_token_task() {
  return {"next-token",    "which token follows, on streams of text",
          "next-token",    training_batches,
          scoring_batches, meter};
}

}  // namespace heed::train
