#include "heed/train/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::train {

double Score::perplexity() const { return std::exp(mean()); }
double Score::bits_per_token() const { return mean() / std::numbers::ln2; }

std::string describe(const spec::EvaluationSpec& protocol) {
  return text("target ", protocol.length, ", memory ", protocol.memory, ", clamp ",
              protocol.clamp ? std::to_string(protocol.clamp) : "off", ", keys ", enum_name(protocol.visible),
              ", ", protocol.warm_up ? "memory warmed up" : "memory empty at first", ", ", protocol.batch,
              protocol.batch == 1 ? " stream" : " streams");
}

Scorer::Scorer(const spec::ModelSpec& spec, const spec::EvaluationSpec& protocol,
               std::shared_ptr<graph::NamedTensors> parameters, model::WeightForm weights)
    : form_(model::scoring_form(spec, protocol, weights)), variables_{std::move(parameters)} {
  auto graph = std::make_shared<graph::Graph>();
  model_ = model::build(*graph, spec, form_);
  graph->mark_output(model_.losses);
  graph->tidy();
  program_ = std::make_unique<graph::Program>(graph, variables_);
  inputs_ = {*program_, model_.inputs};
  cursor_ = std::make_unique<model::Cursor>(model_, form_, variables_.states);
}

Score Scorer::run(data::Batches& batches, int64_t most, const std::function<bool(int64_t done)>& progress) {
  cursor_->restart();
  Score score;
  for (int64_t step = 0; step < batches.segments(); ++step) {
    batches.fill(step, 0, {inputs_.tokens, inputs_.targets});
    cursor_->prepare(inputs_, form_);
    program_->run();
    cursor_->advance(form_.length);
    const auto targets = inputs_.targets;
    const auto losses = program_->tensor(model_.losses).floats();
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] < 0) continue;
      score.nats += losses[i];
      ++score.tokens;
    }
    if (!std::isfinite(score.nats))
      throw damaged_error("scoring: the losses of segment ", step + 1,
                          " are not finite; the model is damaged");
    if (progress && !progress(step + 1)) break;
    if (most > 0 && score.tokens >= most) break;
  }
  return score;
}

}  // namespace heed::train
