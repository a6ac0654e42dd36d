#include "heed/measure/timed_model.h"

#include <algorithm>

#include "heed/base/philox.h"
#include "heed/base/process.h"
#include "heed/kernels/gemm.h"
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

model::Use prompt_use(int64_t length) {
  model::Use use;
  use.purpose = model::Purpose::kNextToken;
  use.length = length;
  use.cached = use.packed = true;
  return use;
}

model::Source made_up_weights(const model::Weights& weights) {
  return [plain = weights.plain, numbers = drawn_once()](const std::string& name, const Tensor& into) {
    const model::Initial& initial = plain.at(name).initial;
    const auto mean = static_cast<float>(name.ends_with("recurrence.alpha") ? 1 : initial.mean),
               spread = static_cast<float>(initial.spread);
    const auto to = into.floats();
    // What repeats is copied: weights of hundreds of megabytes are made again and again.
    const size_t once = std::min(to.size(), numbers.size());
    for (size_t i = 0; i < once; ++i) to[i] = mean + spread * numbers[i];
    for (size_t i = once; i < to.size(); i += once)
      std::copy_n(to.begin(), std::min(once, to.size() - i), to.begin() + static_cast<std::ptrdiff_t>(i));
  };
}

std::shared_ptr<graph::Graph> build_timed(const spec::ModelSpec& spec, const model::Use& use,
                                          model::Model* model) {
  auto graph = std::make_shared<graph::Graph>();
  model::Model built = model::build(*graph, spec, use);
  graph->mark_output(use.purpose == model::Purpose::kLoss ? built.losses : built.scores);
  graph->tidy();
  if (model) *model = std::move(built);
  return graph;
}

TimedModel::TimedModel(const spec::ModelSpec& spec, const model::Use& use, const model::Source* weights)
    : parts_(spec.letters().size() + 1) {
  model::Model model;
  const auto graph = build_timed(spec, use, &model);
  program_ = std::make_unique<graph::Program>(graph, variables_);
  fill_weights(*graph, model.weights, variables_, weights ? *weights : made_up_weights(model.weights));
  for (const char* input : {"tokens", "targets"}) {
    if (!graph->find(input)) continue;
    const auto words = program_->input(input).ints();
    draw_words(words, spec.cluster_ends(), input[1] == 'o' ? 1 : 2);
  }
  model::set_position(*program_, use, {.seen = use.memory, .row = use.memory});
  if (graph->find("row")) program_->input("row").i32()[0] = static_cast<int32_t>(use.length - 1);
}

std::vector<double> TimedModel::run_parts() {
  std::vector<double> seconds(parts_);
  program_->run(std::span(seconds));
  return seconds;
}

WholeTiming time_whole(const spec::ModelSpec& spec, int64_t length, int runs) {
  static const bool warm = (kernels::warm_up_gemm(), true);  // what the library keeps is not the model's
  (void)warm;
  const int64_t before = resident_bytes();
  TimedModel model(spec, prompt_use(length));
  const Timing timing = time([&] { model.run(); }, 0, runs);
  return {timing, resident_bytes() - before};
}

}  // namespace heed::measure
