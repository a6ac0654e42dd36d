#include "heed/train/training.h"

#include <cmath>

#include "heed/ops/ops.h"
#include "heed/ops/optimizer.h"
#include "heed/train/optimizers.h"

namespace heed::train {

using graph::Graph;
using graph::ValueId;

void validate(const TrainingSpec& spec) {
  const auto need = [](bool right, const char* name, auto value, const char* wanted) {
    if (!right) throw usage_error("training: ", name, " is ", value, "; it must be ", wanted);
  };
  const auto size = [](int64_t value) { return value >= 1 && value <= 1 << 24; };
  const auto finite = [](double value) { return std::isfinite(value) && value >= 0; };
  need(size(spec.batch), "batch", spec.batch, "from 1 to 2^24");
  need(size(spec.length), "length", spec.length, "from 1 to 2^24");
  need(spec.steps >= 1, "steps", spec.steps, "at least 1");
  need(finite(spec.learning_rate) && spec.learning_rate > 0, "learning_rate", spec.learning_rate,
       "a positive number");
  need(spec.final_share >= 0 && spec.final_share <= 1, "final_share", spec.final_share, "from 0 to 1");
  need(spec.warmup >= 0, "warmup", spec.warmup, "0 or more");
  need(finite(spec.weight_decay), "weight_decay", spec.weight_decay, "0 or more");
  need(finite(spec.clip), "clip", spec.clip, "0 or more");
}

double learning_rate_at(const TrainingSpec& spec, int64_t step) {
  if (step < spec.warmup)
    return spec.learning_rate * static_cast<double>(step) / static_cast<double>(spec.warmup);
  const double span = static_cast<double>(std::max<int64_t>(1, spec.steps - spec.warmup));
  const double share = std::min(1.0, static_cast<double>(step - spec.warmup) / span);
  const double least = spec.final_share * spec.learning_rate;
  return least + (spec.learning_rate - least) * 0.5 * (1 + std::cos(3.14159265358979 * share));
}

TrainingGraph build_training_graph(const spec::ModelSpec& model_spec, const TrainingSpec& training) {
  validate(training);
  TrainingGraph result{std::make_shared<Graph>(), {}, {}};
  Graph& g = *result.graph;
  result.model = model::gpt2_loss(g, model_spec, {training.batch, training.length}, true);
  const std::vector<ValueId> parameters = g.of_role(graph::Role::kParameter);
  g.mark_output(result.model.loss);
  const auto gradients = ops::gradients(g, result.model.loss, parameters);
  std::vector<ValueId> all;
  for (ValueId parameter : parameters) all.push_back(gradients.at(parameter));
  const ops::ClippedNorm norm = ops::global_norm(g, all, {training.clip});
  result.norm = norm.norm;
  g.mark_output(norm.norm);
  const ValueId rate = g.input("learning_rate", {1}), step = g.input("step", {1}, DType::kI32);
  const OptimizerEntry& optimizer = optimizers().find(training.optimizer);
  for (ValueId parameter : parameters) {
    const bool decays = training.decay_all || g.shape(parameter).rank() > 1;
    optimizer.add(g, parameter, gradients.at(parameter), rate, step, norm.factor,
                  {{"weight_decay", decays ? training.weight_decay : 0.0}});
  }
  g.tidy();
  return result;
}

Trainer::Trainer(const spec::ModelSpec& model_spec, const TrainingSpec& training, graph::Variables& variables)
    : spec_(training) {
  TrainingGraph built = build_training_graph(model_spec, training);
  model_ = built.model;
  norm_ = built.norm;
  const bool fresh = !variables.all().contains("wte.weight");
  program_ = std::make_unique<graph::Program>(built.graph, variables);
  if (fresh)
    model::initialise_gpt2(*built.graph, model_, variables, model_spec, static_cast<uint64_t>(training.seed));
}

StepResult Trainer::step(int64_t step, graph::Profile* profile) {
  program_->input("learning_rate").f32()[0] = static_cast<float>(learning_rate_at(spec_, step));
  program_->input("step").i32()[0] = static_cast<int32_t>(step);
  if (program_->graph().find("rng")) {
    const auto seed = static_cast<uint64_t>(spec_.seed), number = static_cast<uint64_t>(step);
    const uint64_t words[] = {seed, seed >> 32, number, number >> 32};
    for (int i = 0; i < 4; ++i) program_->input("rng").i32()[i] = static_cast<int32_t>(words[i]);
  }
  profile ? program_->run(*profile) : program_->run();
  const StepResult result{program_->tensor(model_.loss).f32()[0], program_->tensor(norm_).f32()[0]};
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
    throw failure("training: at step ", step, " the loss is ", result.loss, " and the gradient norm ",
                  result.gradient_norm, "; try a smaller learning rate (now ", learning_rate_at(spec_, step),
                  ") or a longer warm-up");
  }
  return result;
}

Evaluator::Evaluator(const spec::ModelSpec& spec, model::Batch batch, graph::Variables& variables) {
  if (!variables.all().contains("wte.weight"))
    throw usage_error("evaluation: there are no weights yet; make or load them first");
  auto g = std::make_shared<Graph>();
  model_ = model::gpt2_loss(*g, spec, batch, false);
  g->mark_output(model_.loss);
  g->tidy();
  program_ = std::make_unique<graph::Program>(g, variables);
}

double Evaluator::run() {
  program_->run();
  return program_->tensor(model_.loss).f32()[0];
}

}  // namespace heed::train
