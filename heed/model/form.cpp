#include "heed/model/form.h"

#include <algorithm>

namespace heed::model {

const Inference& GraphForm::inference() const {
  static const Inference usual;
  const Inference* own = std::get_if<Inference>(&purpose);
  return own ? *own : usual;
}

GraphForm training_form(const spec::TrainingSpec& training) {
  return {Training{training.memory, training.chunks}, training.batch / training.chunks, training.length};
}

GraphForm observation_form(int64_t sequences, int64_t length) { return {Observation{}, sequences, length}; }

GraphForm scoring_form(const spec::ModelSpec& model, const spec::EvaluationSpec& protocol,
                       WeightForm weights) {
  const int64_t M = protocol.memory, T = protocol.length;
  // Spare rows, so that caches are rarely moved to their front.
  const Past past = cache(M, M + T + std::max(T, std::min<int64_t>(M, 1024)));
  return {Inference{.weights = weights,
                    .past = model.positions == Positions::kLearned ? Past{} : past,
                    .protocol = {protocol.visible, protocol.clamp, M + T}},
          protocol.batch, T};
}

GraphForm prompt_form(int64_t length) {
  return {Inference{.end = GraphEnd::kNextToken, .weights = WeightForm::kPacked, .past = cache(0)}, 1,
          length};
}

GraphForm reading_form(int64_t sequences, int64_t length) {
  return {Inference{.end = GraphEnd::kScores, .weights = WeightForm::kPacked}, sequences, length};
}

GraphForm generation_form(const spec::ModelSpec& model, int64_t memory, int64_t chunk, int64_t length) {
  const bool learned = model.positions == Positions::kLearned;
  if (learned) memory = model.embedding.context;
  return {Inference{.end = GraphEnd::kNextToken,
                    .weights = WeightForm::kPacked,
                    // Learned positions end with the context. Others continue: whenever the spare rows are
                    // full, the memory moves to the front. A quarter as many as the memory costs four copied
                    // rows per token, where attention reads all of the memory.
                    .past = cache(memory, learned ? model.embedding.context : memory + chunk + memory / 4),
                    // A band, so that each token of a chunk sees the same keys as if it came alone.
                    .protocol = {.visible = Visible::kBand, .reach = memory + chunk}},
          1, length};
}

GraphForm recomputing_form(const Segment& segment, GraphEnd end, WeightForm weights) {
  return {Inference{.end = end, .weights = weights, .past = memory(segment.memory)}, segment.sequences,
          segment.length};
}

GraphForm caching_form(const spec::ModelSpec& model, const Segment& segment, GraphEnd end) {
  if (model.positions == Positions::kLearned) return recomputing_form(segment, end, WeightForm::kPacked);
  return {Inference{.end = end, .weights = WeightForm::kPacked, .past = cache(segment.memory)},
          segment.sequences, segment.length};
}

}  // namespace heed::model
