#include "heed/train/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::train {

double Score::perplexity() const { return std::exp(mean()); }
double Score::bits_per_token() const { return mean() / std::numbers::ln2; }

model::Use scoring_use(const spec::EvaluationSpec& protocol, bool packed) {
  model::Use use;
  use.sequences = protocol.batch;
  use.length = protocol.length;
  use.memory = protocol.memory;
  use.cached = true;
  use.packed = packed;
  // Room to spare, so that caches are moved to their front seldom.
  use.cache_rows =
      protocol.memory + protocol.length + std::max(protocol.length, std::min<int64_t>(protocol.memory, 1024));
  use.reach = protocol.memory + protocol.length;
  use.visible = protocol.visible;
  use.clamp = protocol.clamp;
  use.states = "score.";
  return use;
}

std::string describe(const spec::EvaluationSpec& protocol) {
  return text("target ", protocol.length, ", memory ", protocol.memory, ", clamp ",
              protocol.clamp ? std::to_string(protocol.clamp) : "off", ", keys ", enum_name(protocol.visible),
              ", ", protocol.warm_up ? "memory warmed up" : "memory empty at first", ", ", protocol.batch,
              protocol.batch == 1 ? " stream" : " streams");
}

Scorer::Scorer(const spec::ModelSpec& spec, const spec::EvaluationSpec& protocol, graph::Variables& variables,
               bool packed)
    : use_(scoring_use(protocol, packed)) {
  if (spec.positions == Positions::kLearned) {
    // Learned places begin again with every segment.
    use_.cached = false, use_.memory = 0;
  }
  auto graph = std::make_shared<graph::Graph>();
  model_ = model::build(*graph, spec, use_);
  graph->mark_output(model_.losses);
  graph->tidy();
  program_ = std::make_unique<graph::Program>(graph, variables);
  cursor_ = std::make_unique<model::Cursor>(model_, use_, variables);
}

Score Scorer::run(data::Batches& batches, int64_t most, const std::function<bool(int64_t done)>& progress) {
  cursor_->restart();
  Score score;
  for (int64_t step = 0; step < batches.segments(); ++step) {
    batches.fill(step, 0, program_->input("tokens").ints(), program_->input("targets").ints());
    cursor_->place(*program_, use_);
    program_->run();
    cursor_->advance(use_.length);
    const auto targets = program_->input("targets").ints();
    const auto losses = program_->tensor(model_.losses).floats();
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] < 0) continue;
      score.nats += losses[i];
      ++score.tokens;
    }
    if (!std::isfinite(score.nats))
      throw failure("scoring: the losses of segment ", step + 1, " are not finite; the model is broken");
    if (progress && !progress(step + 1)) break;
    if (most > 0 && score.tokens >= most) break;
  }
  return score;
}

}  // namespace heed::train
