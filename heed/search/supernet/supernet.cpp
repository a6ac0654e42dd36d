#include "heed/search/supernet/supernet.h"

#include <algorithm>
#include <set>

#include "heed/ops/latency_loss.h"
#include "heed/spec/arch.h"
#include "heed/spec/design.h"

namespace heed::search {
namespace {

constexpr double kMicrosecond = 1e-6;   // the unit of latencies in a loss: their logarithm is positive
constexpr int64_t kThetaSeed = 0x7e7a;  // logits are updated under other noise than weights

bool is_choice(WeightGroup group) { return group == WeightGroup::kChoice; }
bool is_weight(WeightGroup group) { return group != WeightGroup::kChoice; }

// The recipe's model with other blocks.
spec::ModelSpec with_blocks(spec::ModelSpec model, const std::string& arch) {
  for (const spec::Size& size : spec::sizes()) {
    std::vector<int64_t>& list = model.sizes[size.name];
    if (std::any_of(list.begin(), list.end(), [&](int64_t value) { return value != list[0]; }))
      throw usage_error("supernet: the recipe has different ", size.name,
                        " by block; all blocks of a letter are alike in a supernet, give one number");
    list.resize(1);
  }
  model.arch = arch;
  return model;
}

}  // namespace

spec::ModelSpec supernet_of(const spec::ModelSpec& model, const SupernetSettings& settings) {
  if (model.mix > 0)
    throw usage_error("supernet: the recipe is a supernet already; give one of a plain model");
  if (settings.layers < 1)
    throw usage_error("supernet: ", settings.layers, " layers leave nothing to choose; give --layers N");
  spec::ModelSpec supernet = with_blocks(model, text("(", settings.letters, ")x", settings.layers));
  supernet.mix = static_cast<int64_t>(settings.letters.size());
  supernet.norm = Norm::kPre;
  validate(supernet);
  return supernet;
}

spec::ModelSpec interleaved_of(const spec::ModelSpec& model, int64_t layers) {
  return with_blocks(model, spec::interleaved(layers));
}

spec::Recipe retraining_of(spec::Recipe recipe, const std::string& blocks) {
  recipe.model =
      with_blocks(recipe.model, blocks.empty() ? spec::identity_arch() : spec::format_arch(blocks));
  return recipe;
}

SupernetGraphs build_supernet(const spec::Recipe& recipe, const SupernetSettings& s,
                              const SupernetSchedule& schedule) {
  SupernetGraphs graphs;
  spec::TrainingSpec& weights = graphs.weights_training;
  weights = recipe.training;
  weights.steps = schedule.weight_updates();
  weights.optimizer = s.weight_optimizer, weights.optimizer_settings = Json::object();
  weights.learning_rate = s.weight_rate, weights.weight_decay = s.weight_decay;
  spec::TrainingSpec& theta = graphs.theta_training;
  theta.batch = weights.batch, theta.chunks = weights.chunks;
  theta.length = weights.length, theta.memory = weights.memory;
  theta.steps = schedule.theta_updates();
  theta.optimizer = "adam", theta.schedule = "constant";
  theta.learning_rate = s.theta_rate, theta.weight_decay = s.theta_decay;
  theta.seed = weights.seed ^ (kThetaSeed << 32);
  const spec::ModelSpec model = supernet_of(recipe.model, s);
  train::Objective choice{{}, is_choice};
  if (s.latency_term != LatencyTerm::kNone) {
    choice.loss = [&](graph::Graph& g, const model::Model& m) {
      const auto choices = static_cast<int64_t>(s.letters.size()) * s.layers;
      graphs.times = g.input("block_times", {1 + choices});
      return ops::latency_loss(g, m.loss, graphs.times, m.mixtures, {s.latency_term, s.alpha, s.beta});
    };
  }
  graphs.weights = train::build_training_graph(model, weights, {{}, is_weight});
  graphs.theta = train::build_training_graph(model, theta, choice);
  return graphs;
}

graph::Memory SupernetGraphs::memory() const { return train::memory_of({&weights, &theta}); }

double SupernetGraphs::flops(const SupernetSchedule& schedule) const {
  return static_cast<double>(schedule.weight_updates()) * weights.flops() +
         static_cast<double>(schedule.theta_updates()) * theta.flops();
}

Supernet::Supernet(const spec::Recipe& recipe, const SupernetSettings& settings, graph::Variables& variables,
                   const BlockTimes& times)
    : settings_(settings), schedule_(settings), variables_(variables) {
  SupernetGraphs graphs = build_supernet(recipe, settings, schedule_);
  times_input_ = graphs.times;
  const auto arena =
      graph::shared_arena({graphs.weights.gradients.get(), graphs.theta.gradients.get()}, variables);
  weights_ =
      std::make_unique<train::Trainer>(std::move(graphs.weights), graphs.weights_training, variables, arena);
  theta_ = std::make_unique<train::Trainer>(std::move(graphs.theta), graphs.theta_training, variables, arena);
  if (settings.latency_term == LatencyTerm::kNone) return;
  HEED_ASSERT(times.blocks.size() == settings.letters.size());
  times_.push_back(static_cast<float>(times.frame / kMicrosecond));
  for (int64_t layer = 0; layer < settings.layers; ++layer) {
    for (const double seconds : times.blocks) times_.push_back(static_cast<float>(seconds / kMicrosecond));
  }
}

train::StepResult Supernet::step(int64_t index, int64_t seen, const train::Trainer::Fill& fill) {
  const Turn turn = schedule_.at(index);
  train::Trainer& trainer = turn.theta ? *theta_ : *weights_;
  trainer.inputs().temperature[0] = static_cast<float>(turn.temperature);
  if (turn.theta && !times_.empty()) std::ranges::copy(times_, trainer.input(times_input_).f32());
  return trainer.step(turn.number, seen, fill);
}

Choice Supernet::choice() const {
  std::vector<std::vector<double>> logits;
  for (int64_t layer = 0; layer < settings_.layers; ++layer) {
    const auto theta = variables_.parameters->at(model::theta_name(layer)).floats();
    logits.emplace_back(theta.begin(), theta.end());
  }
  return choice_of(settings_.letters, logits);
}

std::vector<std::string> Supernet::states() const {
  std::set<std::string> names;
  for (const train::Trainer* trainer : {weights_.get(), theta_.get()}) {
    for (const std::string& name : trainer->states()) names.insert(name);
  }
  return {names.begin(), names.end()};
}

}  // namespace heed::search
