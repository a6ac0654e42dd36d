#include "heed/cli/bench_pass.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/cli/subject.h"
#include "heed/graph/count.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/isa.h"
#include "heed/measure/timed_model.h"
#include "heed/measure/timing.h"
#include "heed/measure/words.h"
#include "heed/model/model.h"
#include "heed/train/optimizers.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

class Pass {
 public:
  explicit Pass(const PassRequest& request)
      : request_(request), name_(request.name), train_(request.train), recompute_(request.recompute) {}

  void run() {
    const Subject subject = load_subject(name_);
    const spec::ModelSpec spec = model(subject.recipe.model);
    if (!train_ && (request_.dropout || !request_.optimizer.empty()))
      throw usage_error("bench: --dropout and --optimizer are for training steps; add --train");
    kernels::warm_up_gemm();
    const int64_t before = resident_bytes();
    graph::Variables variables;
    std::unique_ptr<measure::TimedModel> forward;
    std::unique_ptr<train::Trainer> trainer;
    std::function<void(graph::Profile*)> once;
    Measured measured;
    if (train_) {
      spec::TrainingSpec training = subject.recipe.training;
      training.batch = request_.sequences, training.length = request_.length,
      training.memory = request_.memory;
      training.chunks = 1;
      training.schedule = "constant", training.learning_rate = 1e-4, training.final_rate = 0,
      training.warmup = 0;
      if (!request_.optimizer.empty())
        training.optimizer = request_.optimizer, training.optimizer_settings = Json::object();
      trainer = std::make_unique<train::Trainer>(spec, training, variables);
      // Closed gates have no gradients; here they are opened.
      model::open_gates(trainer->weights(), *variables.parameters);
      const std::vector<int32_t> tokens = words(spec, 1), targets = words(spec, 2);
      std::ranges::copy(tokens, trainer->batch().ints("tokens").begin());
      std::ranges::copy(targets, trainer->batch().ints("targets").begin());
      once = [&, step = int64_t{0}](graph::Profile* profile) mutable {
        trainer->step(
            ++step, request_.memory, [](int64_t, const Batch&) {}, profile);
      };
      measured.planned = trainer->memory();
      measured.flops = trainer->flops();
    } else {
      forward = build_forward(spec, subject);
      graph::Program& program = forward->program();
      once = [&program](graph::Profile* profile) { profile ? program.run(*profile) : program.run(); };
      measured.planned = program.memory();
      measured.flops = graph::count(program.graph()).total.flops;
    }
    measured.timing =
        measure::time([&] { once(nullptr); }, request_.seconds, static_cast<int>(request_.least));
    measured.bytes = peak_resident_bytes() - before;
    const Json profiled = request_.profile ? profile(once) : Json();
    report(measured, profiled);
  }

 private:
  struct Measured {
    graph::Memory planned;
    double flops = 0;
    measure::Timing timing;
    int64_t bytes = 0;
  };

  spec::ModelSpec model(spec::ModelSpec spec) const {
    if (request_.dropout) {
      spec.dropout = spec.attention.dropout = spec.embedding.dropout = *request_.dropout;
      validate(spec);
    }
    return spec;
  }

  std::vector<int32_t> words(const spec::ModelSpec& spec, uint64_t seed) const {
    std::vector<int32_t> words(static_cast<size_t>(request_.sequences * request_.length));
    measure::draw_words(words, spec.cluster_ends(), seed);
    return words;
  }

  // All logits; with an adaptive vocabulary, whose full logits are never used, the losses.
  std::unique_ptr<measure::TimedModel> build_forward(const spec::ModelSpec& spec, const Subject& subject) {
    const auto end = spec.adaptive() ? model::GraphEnd::kLoss : model::GraphEnd::kScores;
    const model::Segment segment{request_.sequences, request_.length, request_.memory};
    const model::GraphForm form = recompute_ ? recomputing_form(segment, end, model::WeightForm::kPacked)
                                             : caching_form(spec, segment, end);
    if (!subject.folder) return std::make_unique<measure::TimedModel>(spec, form);
    const model::Source file = source_of(*subject.folder);
    return std::make_unique<measure::TimedModel>(spec, form, &file);
  }

  void report(const Measured& m, const Json& profiled) const {
    const graph::Memory& planned = m.planned;
    const measure::Timing& timing = m.timing;
    const double tokens = static_cast<double>(request_.sequences * request_.length) / timing.median,
                 flops = m.flops;
    if (request_.json) {
      Json json = {
          {"recipe", name_},
          {"mode", train_ ? "train" : "forward"},
          {"batch", request_.sequences},
          {"length", request_.length},
          {"memory_length", request_.memory},
          {"recompute", recompute_},
          {"threads", thread_count()},
          {"isa", kernels::name_of(kernels::isa())},
          {"seconds",
           {{"median", timing.median}, {"p10", timing.low}, {"p90", timing.high}, {"runs", timing.runs}}},
          {"tokens_per_second", tokens},
          {"gflops", flops / timing.median / 1e9},
          {"memory",
           {{"planned", planned.peak()}, {"measured", m.bytes}, {"process_peak", peak_resident_bytes()}}}};
      if (!profiled.is_null()) json["profile"] = profiled;
      std::printf("%s\n", json.dump(2).c_str());
      return;
    }
    std::printf("%s, %s of %lld x %lld tokens (%s, %s, %s)\n", name_.c_str(),
                train_ ? "training step" : "forward pass", static_cast<long long>(request_.sequences),
                static_cast<long long>(request_.length), describe_threads().c_str(),
                kernels::name_of(kernels::isa()), kernels::gemm_library());
    std::printf("  time     %s median of %d (p10 %s, p90 %s), %.0f tokens/s, %.0f GFLOP/s\n",
                format_seconds(timing.median).c_str(), timing.runs, format_seconds(timing.low).c_str(),
                format_seconds(timing.high).c_str(), tokens, flops / timing.median / 1e9);
    std::printf("  memory   %s planned (weights %s, state %s, arena %s), %s measured\n",
                format_bytes(planned.peak()).c_str(), format_bytes(planned.weights).c_str(),
                format_bytes(planned.state).c_str(), format_bytes(planned.arena).c_str(),
                format_bytes(m.bytes).c_str());
    if (!profiled.is_null()) print_profile(profiled);
  }

  // Time per kind of op, the largest first, and the share of the products.
  Json profile(const std::function<void(graph::Profile*)>& once) const {
    graph::Profile profile;
    kernels::measure_products(true);
    const double begin = now_seconds();
    for (int64_t i = 0; i < std::max<int64_t>(3, request_.least); ++i) once(&profile);
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

  const PassRequest& request_;
  const std::string& name_;
  bool train_, recompute_;
};

}  // namespace

void bench_pass(const PassRequest& request) { Pass(request).run(); }

}  // namespace heed::cli
