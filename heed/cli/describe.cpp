#include "heed/cli/describe.h"

#include <cstdio>

#include "heed/base/units.h"
#include "heed/graph/count.h"
#include "heed/graph/plan.h"
#include "heed/model/gpt2.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

class Describe : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("recipe", recipe_, "name of a recipe or a file", true);
    flags.option("batch", batch_.sequences, "sequences");
    flags.option("length", batch_.length, "tokens per sequence");
    flags.flag("json", json_, "print JSON");
  }

  // Counted and planned; nothing is run and no weight is allocated.
  void run() override {
    const spec::ModelSpec spec = spec::load_model_spec(recipe_);
    graph::Graph forward;
    forward.mark_output(model::gpt2_logits(forward, spec, batch_, model::Weights::kPacked).logits);
    forward.tidy();
    train::TrainingSpec training;
    training.batch = batch_.sequences;
    training.length = batch_.length;
    const auto step = train::build_training_graph(spec, training);
    const graph::Count count = graph::count(forward), step_count = graph::count(*step.graph);
    const int64_t parameters = step_count.parameters;  // the packed ones are padded
    const graph::Memory infer = graph::plan(forward).memory, train = graph::plan(*step.graph).memory;
    int64_t embedding = 0;
    for (const char* name : {"wte.weight", "wpe.weight"})
      embedding += step.graph->shape(step.graph->find(name)).elements();
    if (json_) {
      const auto memory = [](const graph::Memory& m) {
        return Json{{"weights", m.weights}, {"state", m.state}, {"arena", m.arena}, {"peak", m.peak()}};
      };
      const Json json = {
          {"spec", to_json(spec)},
          {"batch", batch_.sequences},
          {"length", batch_.length},
          {"params", {{"total", parameters}, {"decoder", parameters - embedding}}},
          {"flops", {{"forward", count.total.flops}, {"training_step", step_count.total.flops}}},
          {"memory", memory(infer)},
          {"training_memory", memory(train)}};
      std::printf("%s\n", json.dump(2).c_str());
      return;
    }
    std::printf("%s: %s, %lld layers of width %lld, vocabulary %lld, context %lld\n", recipe_.c_str(),
                spec.backbone.c_str(), static_cast<long long>(spec.layers),
                static_cast<long long>(spec.width), static_cast<long long>(spec.vocabulary),
                static_cast<long long>(spec.context));
    std::printf("  parameters      %s (%lld; decoder %s)\n",
                format_count(static_cast<double>(parameters)).c_str(), static_cast<long long>(parameters),
                format_count(static_cast<double>(parameters - embedding)).c_str());
    std::printf("  at %lld x %lld tokens:\n", static_cast<long long>(batch_.sequences),
                static_cast<long long>(batch_.length));
    std::printf("  forward         %sFLOP, %s (weights %s, arena %s)\n",
                format_count(count.total.flops).c_str(), format_bytes(infer.peak()).c_str(),
                format_bytes(infer.weights).c_str(), format_bytes(infer.arena).c_str());
    std::printf("  training step   %sFLOP, %s (weights %s, optimizer %s, arena %s)\n",
                format_count(step_count.total.flops).c_str(), format_bytes(train.peak()).c_str(),
                format_bytes(train.weights).c_str(), format_bytes(train.state).c_str(),
                format_bytes(train.arena).c_str());
  }

 private:
  std::string recipe_;
  model::Batch batch_{1, 192};
  bool json_ = false;
};

}  // namespace

VerbEntry describe_verb() {
  return {"describe", "Counts and plans a model: parameters, FLOPs, exact memory. Runs nothing.",
          "heed describe gpt2-124m --length 192",
          []() -> std::unique_ptr<Verb> { return std::make_unique<Describe>(); }};
}

}  // namespace heed::cli
