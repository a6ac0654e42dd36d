#include "heed/cli/supernet.h"

#include <cstdio>
#include <optional>

#include "heed/base/units.h"
#include "heed/cli/loss_units.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/terminal_observer.h"
#include "heed/cli/user_profile.h"
#include "heed/measure/timing.h"
#include "heed/search/supernet/supernet_run.h"
#include "heed/spec/arch.h"
#include "heed/train/run.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

class Observer : public TerminalObserver<search::SupernetObserver> {
 public:
  explicit Observer(bool bits) : bits_(bits) {}
  void profiling(const search::ProfileProgress& p) override {
    if (p.done < p.all) line_.count("profiling this device", p.done, p.all, "timings", p.share);
  }
  void step(const search::SupernetReport& r) override {
    char line[400];
    std::snprintf(line, sizeof line,
                  "seed %lld (%lld of %lld)  step %lld/%lld  %s  temperature %.2f  %s  %.0f tokens/s  ETA %s",
                  static_cast<long long>(r.seed), static_cast<long long>(r.nth),
                  static_cast<long long>(r.seeds), static_cast<long long>(r.step),
                  static_cast<long long>(r.steps), format_loss(r.loss, bits_).c_str(), r.temperature,
                  r.by_layer.c_str(), r.tokens_per_second, format_seconds(r.seconds_left).c_str());
    line_.show(line, r.last);
  }

 private:
  bool bits_;
};

// The cost of the run compared with training the interleaved model. Throws if it does not fit into memory.
void state(const spec::Recipe& recipe, const search::SupernetSettings& given, int64_t seeds, bool dry_run) {
  // The length of an epoch is known once the text is; it matters for cycles, hardly for memory and time.
  const search::SupernetSettings s = search::resolved(
      given, static_cast<int64_t>(recipe.model.letters().size()), recipe.training.steps, INT64_MAX);
  const spec::ModelSpec supernet = search::supernet_of(recipe.model, s);
  const search::SupernetSchedule schedule(s);
  const search::SupernetGraphs graphs = search::build_supernet(recipe, s, schedule);
  const train::TrainingGraph baseline =
      train::build_training_graph(search::interleaved_of(recipe.model, s.layers), graphs.weights_training);
  const double flops = graphs.flops(schedule),
               baseline_flops = baseline.flops() * static_cast<double>(s.steps);
  const graph::Memory memory = graphs.memory();
  const double seconds = measure::training_seconds(flops * static_cast<double>(seeds));
  std::fprintf(
      dry_run ? stdout : stderr,
      "%s: %lld layers of %s, %s parameters with a vocabulary of %lld; %lld iterations of "
      "%lld x %lld tokens, the first %lld for weights only, then %.0f%% for logits; %lld %s\n"
      "%s, %s of memory, about %s in total; against training the interleaved model for as many updates: "
      "%.2f times the operations, %.2f times the memory\n",
      recipe.name.c_str(), static_cast<long long>(s.layers), s.letters.c_str(),
      format_count(static_cast<double>(model::count_parameters(supernet).total)).c_str(),
      static_cast<long long>(supernet.embedding.vocabulary), static_cast<long long>(s.steps),
      static_cast<long long>(recipe.training.batch), static_cast<long long>(recipe.training.length),
      static_cast<long long>(s.weights_only), 100 * s.theta_share, static_cast<long long>(seeds),
      seeds == 1 ? "seed" : "seeds", format_flops(flops * static_cast<double>(seeds)).c_str(),
      format_bytes(memory.peak()).c_str(), format_seconds(seconds).c_str(), flops / baseline_flops,
      static_cast<double>(memory.peak()) / static_cast<double>(baseline.memory().peak()));
  if (memory.peak() > train::available_for_training())
    throw system_error("supernet: ", format_bytes(memory.peak()), " are needed, ",
                       format_bytes(train::available_for_training()),
                       " are free; choose a recipe with a smaller batch or length, or fewer --layers");
}

class Supernet : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("recipe", recipe_, "name of a recipe or a file; its blocks are searched", true);
    flags.path("data", data_, "a text file or a folder of them");
    flags.path("o,out", out_, "folder of the search; rerun the same command to resume");
    flags.option("seed", seed_, "seed of the first search; default: the recipe's");
    flags.option("seeds", seeds_, "number of searches, with consecutive seeds");
    flags.seconds("save-seconds", save_seconds_, "time between checkpoints");
    flags.path("profile", profile_,
               "database of this device's profile, for --latency-term; default: one per user");
    flags.flag("dry-run", dry_run_, "print the memory and time needed, then exit");
    flags.flag("json", json_, "print JSON");
    settings_.declare(flags);
  }

  void run() override {
    search::SupernetRequest request;
    request.recipe = spec::load_recipe(recipe_);
    request.settings = settings_.over({}, "supernet");
    if (seed_) request.recipe.training.seed = *seed_;
    request.seeds = seeds_;
    if (seeds_ < 1) throw usage_error("supernet: --seeds is ", seeds_, "; it must be positive");
    if (dry_run_ && json_) throw usage_error("supernet: --dry-run and --json cannot be combined");
    if (!dry_run_ && data_.empty()) throw usage_error("supernet: give a text to learn from with --data PATH");
    if (!dry_run_ && out_.empty()) throw usage_error("supernet: give a folder with -o FOLDER");
    state(request.recipe, request.settings, request.seeds, dry_run_);
    if (dry_run_) return;
    request.data = data_;
    request.folder = out_;
    request.save_seconds = save_seconds_;
    if (request.settings.latency_term != LatencyTerm::kNone) request.profile = profile_path(profile_);
    request.record = run_record();
    request.record["seed"] = request.recipe.training.seed;
    const StopSignals signals;
    search::SupernetResult result;
    {
      Observer observer(train::counts_bits(request.recipe.data));
      result = search::run_supernet(request, observer);
    }
    json_ ? void(std::printf("%s\n", to_json(result).dump(2).c_str())) : print(result);
  }

 private:
  void print(const search::SupernetResult& r) const {
    for (const search::SeedResult& seed : r.seeds) {
      const std::string found = seed.choice.found();
      std::printf("seed %lld: %s  by layer %s, %s %lld of %lld iterations, unchanged since %lld\n",
                  static_cast<long long>(seed.seed),
                  found.empty() ? "nothing but identity" : spec::format_arch(found).c_str(),
                  seed.choice.by_layer().c_str(),
                  seed.converged             ? "converged after"
                  : r.settings.unchanged > 0 ? "not converged in"
                                             : "after",
                  static_cast<long long>(seed.steps), static_cast<long long>(r.settings.steps),
                  static_cast<long long>(seed.last_change));
    }
    const bool several = r.seeds.size() > 1;
    std::printf("\nblocks per third of the layers%s\n",
                several ? ", mean and standard deviation over the seeds" : "");
    for (const char letter : r.settings.letters) {
      std::printf("%-4c", letter);
      for (const search::Spread& s : search::slice_spread(r, letter)) {
        several ? std::printf("  %5.2f +- %4.2f", s.mean, s.deviation) : std::printf("  %3.0f", s.mean);
      }
      std::printf("\n");
    }
    std::printf(
        "\nWritten: %s/supernet.json, probabilities.svg, seed-*/theta.jsonl, found.json, course.svg\n",
        out_.c_str());
    std::printf("next: heed train %s/seed-%lld/found.json --data %s -o RUN\n", out_.c_str(),
                static_cast<long long>(r.seeds[0].seed), data_.c_str());
  }

  std::string recipe_, data_, out_, profile_;
  std::optional<int64_t> seed_;
  int64_t seeds_ = 1;
  double save_seconds_ = search::SupernetRequest().save_seconds;
  SettingsFlags<search::SupernetSettings> settings_;
  bool dry_run_ = false, json_ = false;
};

}  // namespace

VerbEntry supernet_verb() {
  return entry<Supernet>("supernet", "Learns from a text which block each layer of a model should be.",
                         {"heed supernet txl-3m-bytes --data book.txt -o where --layers 12 --dry-run",
                          "heed supernet txl-3m-bytes --data book.txt -o where --layers 12 --seeds 3"});
}

}  // namespace heed::cli
