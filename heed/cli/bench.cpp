#include "heed/cli/bench.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "heed/base/clock.h"
#include "heed/base/philox.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/graph/count.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"
#include "heed/measure/timing.h"
#include "heed/model/gpt2.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

class Bench : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("recipe", recipe_, "name of a recipe or a file", true);
    flags.option("batch", batch_.sequences, "sequences");
    flags.option("length", batch_.length, "tokens per sequence");
    flags.flag("train", train_, "time training steps instead of forward passes");
    flags.flag("profile", profile_, "time per kind of op");
    flags.option("seconds", seconds_, "how long to measure");
    flags.option("least", least_, "runs at least");
    flags.flag("json", json_, "print JSON");
  }

  void run() override {
    const spec::ModelSpec spec = spec::load_model_spec(recipe_);
    if (seconds_ < 0 || least_ < 1)
      throw usage_error("bench: --seconds must not be negative and --least must be at least 1");
    kernels::warm_up_gemm();
    const int64_t before = resident_bytes();
    graph::Variables variables;
    graph::Program* program = nullptr;
    std::unique_ptr<graph::Program> forward;
    std::unique_ptr<train::Trainer> trainer;
    std::function<void(graph::Profile*)> once;
    if (train_) {
      train::TrainingSpec training;
      training.batch = batch_.sequences;
      training.length = batch_.length;
      training.learning_rate = 1e-4;
      trainer = std::make_unique<train::Trainer>(spec, training, variables);
      fill(trainer->tokens(), spec.vocabulary, 0);
      fill(trainer->targets(), spec.vocabulary, 1);
      program = &trainer->program();
      once = [&trainer, step = int64_t{0}](graph::Profile* profile) mutable {
        trainer->step(++step, profile);
      };
    } else {
      auto g = std::make_shared<graph::Graph>();
      const model::Gpt2 model = model::gpt2_logits(*g, spec, batch_, model::Weights::kPacked);
      g->mark_output(model.logits);
      g->tidy();
      forward = std::make_unique<graph::Program>(g, variables);
      model::initialise_gpt2(*g, model, variables, spec, 1);
      fill(forward->input("tokens"), spec.vocabulary, 0);
      program = forward.get();
      once = [&forward](graph::Profile* profile) { profile ? forward->run(*profile) : forward->run(); };
    }
    const measure::Timing timing = measure::time([&] { once(nullptr); }, seconds_, static_cast<int>(least_));
    const int64_t measured = peak_resident_bytes() - before;
    const Json profiled = profile_ ? profile(once) : Json();
    report(*program, timing, measured, profiled);
  }

 private:
  static void fill(const Tensor& tokens, int64_t vocabulary, uint32_t stream) {
    Rng rng(17, stream);
    for (int32_t& token : tokens.ints()) token = static_cast<int32_t>(rng.below(vocabulary));
  }

  void report(const graph::Program& program, const measure::Timing& timing, int64_t measured,
              const Json& profiled) const {
    const graph::Memory& planned = program.memory();
    const double tokens = static_cast<double>(batch_.sequences * batch_.length) / timing.median;
    const double flops = graph::count(program.graph()).total.flops;
    if (json_) {
      Json json = {
          {"recipe", recipe_},
          {"mode", train_ ? "train" : "forward"},
          {"batch", batch_.sequences},
          {"length", batch_.length},
          {"threads", thread_count()},
          {"isa", kernels::name_of(kernels::isa())},
          {"seconds",
           {{"median", timing.median}, {"p10", timing.low}, {"p90", timing.high}, {"runs", timing.runs}}},
          {"tokens_per_second", tokens},
          {"gflops", flops / timing.median / 1e9},
          {"memory",
           {{"planned", planned.peak()}, {"measured", measured}, {"process_peak", peak_resident_bytes()}}}};
      if (!profiled.is_null()) json["profile"] = profiled;
      std::printf("%s\n", json.dump(2).c_str());
      return;
    }
    std::printf("%s, %s of %lld x %lld tokens (%s, %s, %s)\n", recipe_.c_str(),
                train_ ? "training step" : "forward pass", static_cast<long long>(batch_.sequences),
                static_cast<long long>(batch_.length), describe_threads().c_str(),
                kernels::name_of(kernels::isa()), kernels::gemm_library());
    std::printf("  time     %s median of %d (p10 %s, p90 %s), %.0f tokens/s, %.0f GFLOP/s\n",
                format_seconds(timing.median).c_str(), timing.runs, format_seconds(timing.low).c_str(),
                format_seconds(timing.high).c_str(), tokens, flops / timing.median / 1e9);
    std::printf("  memory   %s planned (weights %s, state %s, arena %s), %s measured\n",
                format_bytes(planned.peak()).c_str(), format_bytes(planned.weights).c_str(),
                format_bytes(planned.state).c_str(), format_bytes(planned.arena).c_str(),
                format_bytes(measured).c_str());
    if (!profiled.is_null()) print_profile(profiled);
  }

  // Time per kind of op, the largest first, and the share of the products.
  Json profile(const std::function<void(graph::Profile*)>& once) const {
    graph::Profile profile;
    kernels::measure_products(true);
    const double begin = now_seconds();
    for (int64_t i = 0; i < std::max<int64_t>(3, least_); ++i) once(&profile);
    const double wall = now_seconds() - begin;
    const double products = kernels::product_seconds() / thread_count();
    kernels::measure_products(false);
    std::vector<std::pair<std::string, graph::Profile::Entry>> kinds(profile.by_kind.begin(),
                                                                     profile.by_kind.end());
    std::sort(kinds.begin(), kinds.end(),
              [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    const auto runs = static_cast<double>(profile.runs);
    Json ops = Json::array();
    for (const auto& [kind, entry] : kinds) {
      ops.push_back({{"op", kind},
                     {"calls", static_cast<double>(entry.calls) / runs},
                     {"seconds", entry.seconds / runs},
                     {"share", entry.seconds / wall},
                     {"gflops", entry.cost.flops / entry.seconds / 1e9},
                     {"gigabytes_per_second", entry.cost.bytes / entry.seconds / 1e9}});
    }
    return {{"seconds", wall / runs}, {"products_share", products / wall}, {"ops", ops}};
  }

  static void print_profile(const Json& profile) {
    std::printf("\n  %-28s %7s %10s %7s %9s %8s\n", "op", "calls", "ms", "share", "GFLOP/s", "GB/s");
    for (const Json& op : profile["ops"]) {
      std::printf("  %-28s %7.0f %10.3f %6.1f%% %9.1f %8.1f\n", op["op"].get<std::string>().c_str(),
                  op["calls"].get<double>(), 1e3 * op["seconds"].get<double>(),
                  100 * op["share"].get<double>(), op["gflops"].get<double>(),
                  op["gigabytes_per_second"].get<double>());
    }
    const double share = profile["products_share"];
    std::printf("  in matrix products of layers: %.1f%% of %s; everything else: %.1f%%\n", 100 * share,
                format_seconds(profile["seconds"]).c_str(), 100 * (1 - share));
  }

  std::string recipe_;
  model::Batch batch_{1, 192};
  bool train_ = false, profile_ = false, json_ = false;
  double seconds_ = 4;
  int64_t least_ = 5;
};

}  // namespace

VerbEntry bench_verb() {
  return {"bench",
          "Times a model on this machine: forward pass or training step, memory planned and measured.",
          "heed bench gpt2-124m --length 192 --profile",
          []() -> std::unique_ptr<Verb> { return std::make_unique<Bench>(); }};
}

}  // namespace heed::cli
