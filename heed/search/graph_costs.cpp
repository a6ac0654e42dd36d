#include "heed/search/graph_costs.h"

#include <algorithm>

#include "heed/model/model.h"

namespace heed::search {

GraphCosts::GraphCosts(const spec::Space& space)
    : space_(space),
      serving_(infer::usual_serving(space.recipe_of({space.frames().front(), {}}), space.length)) {}

Cost GraphCosts::of_model(const spec::ModelSpec& model) const {
  const model::ParameterCount count = model::count_parameters(model);
  const infer::SessionMemory memory = infer::plan_session(model, serving_);
  return {0, count.decoder, count.total, memory.weights + memory.state,
          std::max(memory.arena, memory.loading - memory.state)};
}

spec::ModelSpec GraphCosts::between_small_ends(int64_t width, const std::vector<spec::Layer>& layers) const {
  spec::ModelSpec model = space_.model_of({{width, 0, 1, 1}, layers});
  model.embedding.cutoffs.clear();
  model.head.tie_projections = {true};
  return model;
}

Cost GraphCosts::of_frame(const spec::Frame& frame) {
  const auto [at, is_new] = frames_.try_emplace(frame);
  if (is_new) {
    at->second = of_model(space_.model_of({frame, {}}));
    at->second.resident += beside(frame.vocabulary);
  }
  return at->second;
}

int64_t GraphCosts::beside(int64_t vocabulary) const {
  spec::Frame frame = space_.frames().front();
  frame.vocabulary = vocabulary;
  return infer::memory_beside_model(space_.recipe_of({frame, {}}).data.tokenizer, vocabulary);
}

Cost GraphCosts::of_layer(int64_t width, const spec::Layer& layer) {
  const auto [at, is_new] = layers_.try_emplace({width, layer});
  if (is_new) {
    const auto [ends, no_ends] = small_ends_.try_emplace(width);
    if (no_ends) ends->second = of_model(between_small_ends(width, {}));
    at->second = of_model(between_small_ends(width, {layer}));
    at->second.decoder -= ends->second.decoder;
    at->second.total -= ends->second.total;
    at->second.resident -= ends->second.resident;
  }
  return at->second;
}

Cost GraphCosts::planned(const spec::ModelSpec& model) const {
  Cost cost = of_model(model);
  cost.resident += beside(model.embedding.vocabulary);
  return cost;
}

Cost GraphCosts::planned(const spec::Candidate& candidate) const {
  return planned(space_.model_of(candidate));
}

}  // namespace heed::search
