// What an iteration of a supernet costs, as a multiple of an update of the interleaved model with as many
// layers (the papers claim less than two). Both take turns, so that a busy machine slows both.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "heed/base/clock.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/search/supernet/supernet.h"

using namespace heed;

namespace {

spec::Recipe recipe_of(int64_t width) {
  spec::Recipe recipe;
  recipe.model = spec::backbones().find("transformer-xl").settings();
  recipe.model.width = width, recipe.model.sizes["heads"] = {4}, recipe.model.sizes["inner"] = {4 * width};
  recipe.model.embedding.vocabulary = 204, recipe.model.dropout = 0;
  recipe.training.batch = 16, recipe.training.length = 128, recipe.training.memory = 128;
  recipe.training.clip = 0.25;
  return recipe;
}

void fill(int64_t, const Batch& to) {
  const auto tokens = to.ints("tokens"), targets = to.ints("targets");
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * i % 204);
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<int32_t>((i + 1) * (i + 1) % 204);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = now_seconds();
  work();
  return now_seconds() - begin;
}

void run(int64_t layers, int64_t width, Norm norm, int rounds) {
  spec::Recipe recipe = recipe_of(width);
  recipe.model.norm = norm;
  search::SupernetSettings settings;
  // Cycles of five iterations, the last of which updates logits.
  settings.layers = layers, settings.steps = 5 * (rounds + 1), settings.weights_only = 0, settings.cycle = 5;
  settings.temperature = settings.final_temperature = 1;
  graph::Variables net_variables, baseline_variables;
  search::Supernet net(recipe, settings, net_variables);
  const search::SupernetGraphs graphs = build_supernet(recipe, settings, net.schedule());
  const train::TrainingGraph graph =
      train::build_training_graph(search::interleaved_of(recipe.model, layers), graphs.weights_training);
  const double flops = graphs.flops(net.schedule()) / (graph.flops() * static_cast<double>(settings.steps)),
               memory =
                   static_cast<double>(graphs.memory().peak()) / static_cast<double>(graph.memory().peak());
  train::Trainer baseline(graph, graphs.weights_training, baseline_variables);
  std::vector<double> ratios;
  for (int round = 0; round <= rounds; ++round) {
    const double ours = seconds_of([&] {
      for (int i = 0; i < 5; ++i) net.step(5 * round + i, 128 * (5 * round + i), fill);
    });
    const double theirs = seconds_of([&] {
      for (int i = 0; i < 5; ++i) baseline.step(5 * round + i + 1, 128 * (5 * round + i), fill);
    });
    if (round > 0) ratios.push_back(ours / theirs);  // the first warms up
  }
  std::ranges::sort(ratios);
  std::printf(
      "%lld layers of width %lld, baseline normed %s: time %.2f (%.2f to %.2f over %d rounds), operations "
      "%.2f, "
      "planned memory %.2f (%s)\n",
      static_cast<long long>(layers), static_cast<long long>(width), norm == Norm::kPre ? "before" : "after",
      ratios[ratios.size() / 2], ratios.front(), ratios.back(), rounds, flops, memory,
      format_bytes(graphs.memory().peak()).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) set_thread_count(std::atoi(argv[1]));
  std::printf("supernet of s f i over the interleaved model, %d threads\n", static_cast<int>(thread_count()));
  for (const Norm norm : {Norm::kPre, Norm::kPost}) {
    run(12, 128, norm, 9);
    run(16, 128, norm, 7);
    run(12, 256, norm, 5);
  }
}
