#include "heed/model/form.h"

#include <algorithm>

namespace heed::model {

GraphForm training_form(const spec::TrainingSpec& training) {
  return {.weights = WeightForm::kTrained,
          .past = memory(training.memory),
          .sequences = training.batch / training.chunks,
          .length = training.length,
          .chunks = training.chunks};
}

GraphForm scoring_form(const spec::ModelSpec& model, const spec::EvaluationSpec& protocol,
                       WeightForm weights) {
  const int64_t M = protocol.memory, T = protocol.length;
  // Spare rows, so that caches are rarely moved to their front.
  const Past past = cache(M, M + T + std::max(T, std::min<int64_t>(M, 1024)));
  return {.weights = weights,
          .past = model.positions == Positions::kLearned ? Past{} : past,
          .protocol = {protocol.visible, protocol.clamp, M + T},
          .sequences = protocol.batch,
          .length = T};
}

GraphForm prompt_form(int64_t length) {
  return {.end = GraphEnd::kNextToken, .weights = WeightForm::kPacked, .past = cache(0), .length = length};
}

GraphForm generation_form(const spec::ModelSpec& model, int64_t memory, int64_t chunk, int64_t length) {
  const bool learned = model.positions == Positions::kLearned;
  if (learned) memory = model.embedding.context;
  return {.end = GraphEnd::kNextToken,
          .weights = WeightForm::kPacked,
          // Learned positions end with the context. Others continue: with as many spare rows as memory a row
          // moves once.
          .past = cache(memory, learned ? model.embedding.context : 2 * memory + chunk),
          // A band, so that each token of a chunk sees the same keys as if it came alone.
          .protocol = {.visible = Visible::kBand, .reach = memory + chunk},
          .length = length};
}

}  // namespace heed::model
