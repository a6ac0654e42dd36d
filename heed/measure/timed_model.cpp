#include "heed/measure/timed_model.h"

#include <algorithm>

#include "heed/base/philox.h"
#include "heed/measure/words.h"

namespace heed::measure {
namespace {

std::vector<float> drawn_once() {
  std::vector<float> numbers(1 << 14);
  Rng rng(1);
  for (float& number : numbers) number = static_cast<float>(rng.normal());
  return numbers;
}

}  // namespace

model::Source made_up_weights(const model::Weights& weights) {
  return [plain = weights.plain, numbers = drawn_once()](const std::string& name, const Shape&, int64_t,
                                                         const Tensor& into) {
    const model::Initial& initial = plain.at(name).initial;
    const bool gate = initial.kind == model::Initial::Kind::kClosedGate;
    const auto mean = static_cast<float>(gate ? 1 : initial.mean),
               spread = static_cast<float>(initial.spread);
    const auto to = into.floats();
    // Repeated values are copied: weights of hundreds of megabytes are made again and again.
    const size_t once = std::min(to.size(), numbers.size());
    for (size_t i = 0; i < once; ++i) to[i] = mean + spread * numbers[i];
    for (size_t i = once; i < to.size(); i += once)
      std::copy_n(to.begin(), std::min(once, to.size() - i), to.begin() + static_cast<std::ptrdiff_t>(i));
  };
}

std::shared_ptr<graph::Graph> build_timed(const spec::ModelSpec& spec, const model::GraphForm& form,
                                          model::Model* model) {
  auto graph = std::make_shared<graph::Graph>();
  model::Model built = model::build(*graph, spec, form);
  graph->mark_output(form.end() == model::GraphEnd::kLoss ? built.losses : built.scores);
  graph->tidy();
  if (model) *model = std::move(built);
  return graph;
}

model::GraphForm form_of(const spec::ModelSpec& spec, const Work& work) {
  return model::generation_form(spec, work.length, work.length, work.step ? 1 : work.length);
}

TimedModel::TimedModel(const spec::ModelSpec& spec, const model::GraphForm& form,
                       const model::Source* weights)
    : TimedModel(spec, form, weights, form.memory()) {}

TimedModel::TimedModel(const spec::ModelSpec& spec, const Work& work)
    : TimedModel(spec, form_of(spec, work), nullptr, work.step ? work.length : 0) {}

TimedModel::TimedModel(const spec::ModelSpec& spec, const model::GraphForm& form,
                       const model::Source* weights, int64_t seen)
    : sections_(spec.letters().size() + 1) {
  model::Model model;
  const auto graph = build_timed(spec, form, &model);
  program_ = std::make_unique<graph::Program>(graph, variables_);
  fill_weights(*graph, model.weights, *variables_.parameters,
               weights ? *weights : made_up_weights(model.weights));
  const model::InputSpans inputs(*program_, model.inputs);
  const Batch batch = batch_of(model, *program_);
  draw_words(batch.ints("tokens"), spec.cluster_ends(), 1);
  draw_words(batch.ints("targets"), spec.cluster_ends(), 2);
  set_position(inputs, form, {.seen = seen, .row = seen});
  if (!inputs.scored_row.empty()) inputs.scored_row[0] = static_cast<int32_t>(form.length - 1);
}

std::vector<double> TimedModel::run_sections() {
  std::vector<double> seconds(sections_);
  program_->run(std::span(seconds));
  return seconds;
}

}  // namespace heed::measure
