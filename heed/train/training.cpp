#include "heed/train/training.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/graph/count.h"
#include "heed/ops/accumulate.h"
#include "heed/ops/ops.h"
#include "heed/ops/optimizer.h"
#include "heed/train/optimizers.h"
#include "heed/train/schedules.h"
#include "heed/train/tasks.h"

namespace heed::train {
namespace {

using graph::Graph;
using graph::ValueId;

constexpr const char* kSum = ".gradient";  // after a parameter's name: the sum over the chunks of an update

// One for each parameter; where the optimizer works by layer, one for all parameters of a layer.
std::vector<Updated> steps_of(const Graph& g, const model::Weights& weights,
                              const std::vector<ValueId>& parameters, const std::vector<ValueId>& gradients,
                              bool by_layer) {
  std::vector<Updated> steps;
  std::map<std::string, size_t> step_of_layer;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = g.value(parameters[i]).name;
    const model::Layer& layer = weights.plain.at(name).layer;
    const std::string& key = by_layer && !layer.name.empty() ? layer.name : name;
    const auto [at, is_new] = step_of_layer.try_emplace(key, steps.size());
    if (is_new) steps.emplace_back();
    Updated& step = steps[at->second];
    step.parameters.push_back(parameters[i]);
    step.gradients.push_back(gradients[i]);
    if (by_layer) step.layer_ends = layer.ends;
  }
  return steps;
}

// Adds clipping and the optimizer's steps.
void add_update(TrainingGraph& result, Graph& g, const std::vector<ValueId>& parameters,
                const std::vector<ValueId>& gradients, const spec::TrainingSpec& training) {
  const ops::ClippedNorm norm = ops::global_norm(g, gradients, {training.clip});
  g.mark_output(norm.norm);
  result.norm = norm.norm;
  result.learning_rate = g.input("learning_rate", {1});
  result.step = g.input("step", {1}, DType::kI32);
  const OptimizerEntry& optimizer = optimizers().find(training.optimizer);
  for (const Updated& step : steps_of(g, result.model.weights, parameters, gradients, optimizer.by_layer)) {
    const bool decays = training.decay_all || g.shape(step.parameters[0]).rank() > 1;  // of a layer, all
    Json settings = training.optimizer_settings;
    if (!settings.contains("weight_decay")) settings["weight_decay"] = decays ? training.weight_decay : 0.0;
    optimizer.add(g, step, result.learning_rate, result.step, norm.factor, settings);
  }
}

}  // namespace

int64_t available_for_training() {
  // The library packs parts of both operands on each thread, and the allocator keeps that memory.
  constexpr int64_t kPacked = 16 << 20;
  return std::max<int64_t>(0, available_memory() - kPacked * thread_count());
}

graph::Memory memory_of(std::initializer_list<const TrainingGraph*> updates) {
  graph::Memory memory;
  std::set<std::string> counted;
  const auto add_states = [&](const graph::Graph& g) {
    for (ValueId id : g.of_role(graph::Role::kState)) {
      if (counted.insert(g.value(id).name).second) memory.state += align_up(g.value(id).type.bytes());
    }
  };
  int64_t apart = 0;
  for (const TrainingGraph* t : updates) {
    const graph::Memory of_gradients = graph::plan(*t->gradients).memory;
    memory.weights = std::max(memory.weights, of_gradients.weights);
    memory.arena = std::max(memory.arena, of_gradients.arena);
    add_states(*t->gradients);
    if (!t->update) continue;
    apart += graph::plan(*t->update).memory.arena;
    add_states(*t->update);
  }
  memory.arena += apart;
  return memory;
}

double TrainingGraph::flops() const {
  return static_cast<double>(form.chunks()) * graph::count(*gradients).total.flops;
}

TrainingGraph build_training_graph(const spec::ModelSpec& model_spec, const spec::TrainingSpec& training,
                                   const Objective& objective) {
  validate(training);
  if (model_spec.mix > 0 && !objective.changes)
    throw usage_error(
        "training: a model with mix is a supernet; `heed supernet` trains it and finds what to train");
  schedules().find(training.schedule);
  task_of(model_spec, training);
  TrainingGraph result;
  result.gradients = std::make_shared<Graph>();
  result.form = model::training_form(training);
  Graph& g = *result.gradients;
  result.model = model::build(g, model_spec, result.form);
  g.mark_output(result.model.loss);
  const ValueId loss = objective.loss ? objective.loss(g, result.model) : result.model.loss;
  std::vector<ValueId> wanted;
  for (ValueId id : g.of_role(graph::Role::kParameter)) {
    const WeightGroup group = result.model.weights.plain.at(g.value(id).name).group;
    if (!objective.changes || objective.changes(group)) wanted.push_back(id);
  }
  // A parameter that nothing uses (shared biases of a model without attention) has no gradient and stays.
  std::vector<ValueId> parameters, gradients;
  for (const auto& [parameter, gradient] : ops::gradients(g, loss, wanted)) {
    parameters.push_back(parameter);
    gradients.push_back(gradient);
  }
  if (training.chunks == 1) {
    add_update(result, g, parameters, gradients, training);
    g.tidy();
    return result;
  }
  result.update = std::make_shared<Graph>();
  std::vector<ValueId> same, sums;
  ValueId& chunk = result.model.inputs.chunk;
  if (!chunk) chunk = g.input("chunk", {1}, DType::kI32);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string name = g.value(parameters[i]).name;
    const ValueId sum = g.state(name + kSum, g.shape(parameters[i]));
    ops::accumulate(g, sum, gradients[i], chunk, {1.0 / static_cast<double>(training.chunks)});
    same.push_back(result.update->parameter(name, g.shape(parameters[i])));
    sums.push_back(result.update->state(name + kSum, g.shape(parameters[i])));
  }
  g.tidy();
  add_update(result, *result.update, same, sums, training);
  result.update->tidy();
  return result;
}

Trainer::Trainer(const spec::ModelSpec& model_spec, const spec::TrainingSpec& training,
                 graph::Variables& variables)
    : Trainer(build_training_graph(model_spec, training), training, variables) {}

Trainer::Trainer(TrainingGraph graph, const spec::TrainingSpec& training, graph::Variables& variables,
                 std::shared_ptr<Buffer> arena)
    : spec_(training), graph_(std::move(graph)) {
  const bool fresh = !variables.parameters->contains(graph_.model.weights.plain.begin()->first);
  program_ = std::make_unique<graph::Program>(graph_.gradients, variables, std::move(arena));
  if (graph_.update) update_ = std::make_unique<graph::Program>(graph_.update, variables);
  if (fresh)
    fill_weights(*graph_.gradients, graph_.model.weights, *variables.parameters,
                 first_weights(graph_.model.weights, static_cast<uint64_t>(training.seed)));
  batch_ = batch_of(graph_.model, *program_);
  inputs_ = {*program_, graph_.model.inputs};
  cursor_ = std::make_unique<model::Cursor>(graph_.model, graph_.form, variables.states);
  const graph::Program& last = update_ ? *update_ : *program_;
  learning_rate_ = last.tensor(graph_.learning_rate).f32();
  step_ = last.tensor(graph_.step).i32();
}

std::vector<std::string> Trainer::names(graph::Role role) const {
  std::set<std::string> names;
  for (const auto& g : {graph_.gradients, graph_.update}) {
    if (!g) continue;
    for (ValueId id : g->of_role(role))
      if (!g->value(id).name.ends_with(kSum)) names.insert(g->value(id).name);
  }
  return {names.begin(), names.end()};
}

StepResult Trainer::step_at(double position, int64_t step, int64_t seen, const Fill& fill,
                            graph::Profile* profile) {
  const double rate = learning_rate_at(spec_, position);
  graph::Program& last = update_ ? *update_ : *program_;
  *learning_rate_ = static_cast<float>(rate);
  *step_ = static_cast<int32_t>(step);
  if (seen == 0) cursor_->restart();
  model::set_position(inputs_, graph_.form, {.seen = seen, .row = 0});
  StepResult result{0, 0, rate};
  for (int64_t chunk = 0; chunk < spec_.chunks; ++chunk) {
    if (!inputs_.chunk.empty()) inputs_.chunk[0] = static_cast<int32_t>(chunk);
    set_rng(inputs_, static_cast<uint64_t>(spec_.seed), static_cast<uint64_t>(step * spec_.chunks + chunk));
    fill(chunk, batch_);
    profile ? program_->run(*profile) : program_->run();
    result.loss += program_->tensor(graph_.model.loss).f32()[0] / static_cast<double>(spec_.chunks);
  }
  if (update_) profile ? update_->run(*profile) : update_->run();
  result.gradient_norm = last.tensor(graph_.norm).f32()[0];
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
    throw diverged_error("training: at step ", step, " the loss is ", result.loss, " and the gradient norm ",
                         result.gradient_norm, "; try a smaller learning rate (now ", rate,
                         "), a longer warm-up or a smaller clip");
  }
  return result;
}

}  // namespace heed::train
