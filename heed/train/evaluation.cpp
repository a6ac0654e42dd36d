#include "heed/train/evaluation.h"

#include <cmath>

namespace heed::train {

std::string describe(const spec::EvaluationSpec& protocol) {
  return text("target ", protocol.length, ", memory ", protocol.memory, ", clamp ",
              protocol.clamp ? std::to_string(protocol.clamp) : "off", ", keys ", enum_name(protocol.visible),
              ", ", protocol.warm_up ? "memory warmed up" : "memory empty at first", ", ", protocol.batch,
              protocol.batch == 1 ? " stream" : " streams");
}

Scorer::Scorer(const Task& task, const spec::ModelSpec& spec, const spec::EvaluationSpec& protocol,
               std::shared_ptr<graph::NamedTensors> parameters, model::WeightForm weights)
    : meter_(task.meter),
      form_(model::scoring_form(spec, protocol, weights)),
      variables_{std::move(parameters)} {
  auto graph = std::make_shared<graph::Graph>();
  model_ = model::build(*graph, spec, form_);
  graph->mark_output(model_.losses);
  if (model_.scores) graph->mark_output(model_.scores);
  graph->tidy();
  program_ = std::make_unique<graph::Program>(graph, variables_);
  batch_ = batch_of(model_, *program_);
  inputs_ = {*program_, model_.inputs};
  cursor_ = std::make_unique<model::Cursor>(model_, form_, variables_.states);
}

Score Scorer::run(data::Batches& batches, int64_t most, const std::function<bool(int64_t done)>& progress) {
  cursor_->restart();
  const data::BatchSpans to = batches.find(batch_);
  const std::unique_ptr<Meter> meter = meter_(batch_);
  const auto floats = [&](graph::ValueId id) {
    return id ? program_->tensor(id).floats() : std::span<float>();
  };
  const std::span<const float> losses = floats(model_.losses), scores = floats(model_.scores);
  for (int64_t step = 0; step < batches.segments(); ++step) {
    batches.fill(step, 0, to);
    cursor_->prepare(inputs_, form_);
    program_->run();
    cursor_->advance(form_.length);
    meter->add(losses, scores);
    const Score score = meter->score();
    if (!std::isfinite(score.nats))
      throw damaged_error("scoring: the losses of segment ", step + 1,
                          " are not finite; the model is damaged");
    if (progress && !progress(step + 1)) break;
    if (most > 0 && score.tokens >= most) break;
  }
  return meter->score();
}

}  // namespace heed::train
