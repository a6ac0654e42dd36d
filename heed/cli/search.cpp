#include "heed/cli/search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heed/base/units.h"
#include "heed/cli/genes_flag.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/strategy_flags.h"
#include "heed/cli/terminal_observer.h"
#include "heed/cli/user_profile.h"
#include "heed/measure/timing.h"
#include "heed/search/proxies/counts.h"
#include "heed/search/search_run.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::cli {
namespace {

class Observer : public TerminalObserver<search::SearchObserver> {
 public:
  void profiling(const search::ProfileProgress& p) override {
    if (p.done < p.all) line_.count("profiling this device", p.done, p.all, "timings", p.share);
  }
  void searching(size_t evaluated, size_t most) override {
    if (most > 0) return line_.count("searching", evaluated, most, "models");
    line_.show(text("searching: ", evaluated, " models"), false);
  }
  void searching_share(double share) override {
    line_.count("searching", static_cast<size_t>(100 * share), 100, "percent", share);
  }
  void measuring(size_t done, size_t all) override {
    line_.count("measuring whole models", done, all, "rounds");
  }
  void training(const search::ShortTrainingProgress& p) override {
    if (p.done < p.all) line_.count("training models", p.done, p.all, "models", p.share);
  }
};

class Search : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("space", space_,
                     "name of a space or a TOML file; with --measure-again also the folder of a search",
                     false);
    flags.path("o,out", out_, "folder of the search; rerun the same command to resume");
    declare_genes(flags, genes_);
    flags.latency("max-latency", latency_, "latency limit of a prompt of the space's length, such as 20ms");
    flags.latency("max-step-latency", step_, "latency limit of one more token after the prompt, such as 2ms");
    flags.latency("max-first-token", first_token_,
                  "limit on the time from loading the model to the end of the prompt, such as 50ms");
    flags.option(
        "percentile", request_.percentile,
        "percentage of a model's runs that must meet the latency limits: 50 is the median, 95 nearly all");
    flags.bytes("max-memory", memory_,
                "memory limit of the whole process that serves the model, such as 48MiB: weights, state, "
                "working memory, tokenizer and heed itself");
    flags.bytes("max-file", file_, "limit on the file size of the weights in f32, such as 16MiB");
    flags.option("max-parameters", parameters_, "limit on the total number of parameters, such as 12M");
    flags.option("objective", objective_, "which latency to minimise: prompt, step or first-token",
                 check_objective);
    flags.option("strategy", request_.strategy, search::strategies().names(), check_strategy);
    flags.option("proxy", request_.proxy,
                 text("score that estimates quality: ", search::proxies().names(), "; if not given, ",
                      search::worth_proxy().name, " where there is a law, else ",
                      search::effective_params_proxy().name));
    flags.path(
        "law", request_.law,
        "law of worth that predicts the loss: a file, or the folder of `heed worth`; default: the space's");
    flags.option("train-tokens", request_.train_tokens,
                 "number of tokens the model will be trained on; 0: as in the space's training");
    flags.seconds("train-time", request_.train_time,
                  "with --data, instead of --train-tokens: time there will be to train the model, such as "
                  "1h; the best number of tokens is chosen together with the model");
    flags.seconds("fit", request_.fit,
                  "with --data: time to fit a law of worth to the text; default: a quarter of the training "
                  "time, at most 15 minutes; 0s: no fit");
    flags.seconds("finalists", request_.finalists,
                  "with --data: time to train the most promising models, the best of which is recommended; "
                  "default: a quarter of the training time, 5 to 10 minutes; 0s: none");
    flags.seconds("compare", request_.compare,
                  "with --data: time to train published arrangements of blocks, scaled to the latency of the "
                  "best model, for comparison");
    flags.flag("measure-all", request_.measure_all,
               "measure every candidate as a whole instead of adding up its pieces");
    flags.option("keep", request_.keep, "approximate number of frontier models to measure and report");
    flags.flag("measure-again", request_.measure_again,
               "measure the models of a finished search again, for example if the machine was busy");
    flags.flag("no-baselines", no_baselines_, "do not measure published models for comparison");
    flags.path("profile", profile_, "database of this device's profile; default: one per user");
    flags.flag("list", list_, "list the spaces");
    flags.flag("json", json_, "print JSON");
    sample_.declare(flags);
    strategy_flags_.declare(flags);
  }

  void run() override {
    if (list_) return list();
    if (space_.empty()) throw usage_error("search: name a space; `heed search --list` shows them");
    if (request_.measure_again && store::run_kind(space_) == store::RunKind::kSearch) {
      request_ = search::request_of(store::read_json_object(std::filesystem::path(space_) / "config.json"));
      request_.measure_again = true;
      out_ = space_;
    } else {
      read_request();
    }
    request_.folder = out_;
    request_.profile = profile_path(profile_);
    request_.record = run_record();
    request_ = search::resolved(std::move(request_));
    std::fprintf(stderr, "space %s: %s%s10^%.1f models\n", request_.space.name.c_str(),
                 request_.space.about.c_str(), request_.space.about.empty() ? "" : ", ",
                 request_.space.log10_size());
    if (const std::string limits = limits_of(request_); !limits.empty())
      std::fprintf(stderr, "limits: %s\n", limits.c_str());
    const StopSignals signals;
    search::SearchResult result;
    {
      Observer observer;
      result = search::run_search(request_, observer);
    }
    json_ ? void(std::printf("%s\n", to_json(result).dump(2).c_str())) : print(result);
    warn(result);
    if (result.models.empty())
      throw infeasible_error(
          "search: every model measured exceeds a limit; loosen it, or measure again with --measure-again on "
          "a "
          "quiet machine");
  }

 private:
  void read_request() {
    if (out_.empty()) throw usage_error("search: give a folder with -o FOLDER");
    request_.space = spec::load_space(space_, genes_);
    if (latency_) request_.limits.latency = *latency_;
    if (step_) request_.limits.step = *step_;
    if (first_token_) request_.limits.first_token = *first_token_;
    if (memory_) request_.limits.memory = *memory_;
    if (file_) request_.limits.file = *file_;
    request_.objective = enum_from_name<search::Objective>(objective_);
    if (parameters_) request_.limits.total = *parameters_;
    request_.settings = strategy_flags_.settings_of(request_.strategy);
    request_.sample = sample_.over({}, "search");
    request_.baselines = !no_baselines_;
  }

  // As they hold: in the units of the answer, with the percentile and what they are about.
  static std::string limits_of(const search::SearchRequest& r) {
    const search::Limits& l = r.limits;
    std::string line;
    const auto add = [&](const std::string& limit) { line += text(line.empty() ? "" : ", ", limit); };
    const std::string runs = r.percentile > 50 ? text(" in ", r.percentile, "% of runs") : "";
    if (std::isfinite(l.latency))
      add(text(format_seconds(l.latency), " for a prompt of ", r.space.length, " tokens", runs));
    if (std::isfinite(l.step)) add(text(format_seconds(l.step), " for one more token", runs));
    if (std::isfinite(l.first_token)) add(text(format_seconds(l.first_token), " to the first token", runs));
    if (l.memory != INT64_MAX) add(text(format_bytes(l.memory), " of memory for the whole process"));
    if (l.file != INT64_MAX) add(text(format_bytes(l.file), " for the file of weights"));
    if (l.total != INT64_MAX) add(text(format_count(static_cast<double>(l.total)), " parameters"));
    return line;
  }

  static void check_objective(const std::string& name) { enum_from_name<search::Objective>(name); }
  static void check_strategy(const std::string& name) {
    if (name == "supernet")
      throw usage_error(
          "search: the supernet is now a separate verb with the same flags: heed supernet RECIPE --data TEXT "
          "-o RUN; see `heed supernet --help`");
    search::strategies().find(name);
  }

  // Sums of pieces are within a few percent of whole models on an idle machine.
  static void warn(const search::SearchResult& r) {
    std::vector<double> ratios;
    for (const auto* models : {&r.models, &r.dropped}) {
      for (const auto& m : *models) {
        if (m.predicted.cost.latency > 0) ratios.push_back(m.measured.median / m.predicted.cost.latency);
      }
    }
    const double ratio = measure::percentile(ratios, 0.5);
    if (ratios.empty() || std::abs(ratio - 1) < 0.15) return;
    std::fprintf(stderr,
                 "warning: whole models took %.2f times what was predicted: the machine was busy while %s; "
                 "%s\n",
                 ratio, ratio > 1 ? "they were measured" : "its profile was made",
                 ratio > 1 ? "measure them again with --measure-again when it is quiet"
                           : "make a new one with --profile FILE when it is quiet");
  }

  void list() const {
    Json json = Json::array();
    for (const std::string& name : spec::space_names()) {
      const spec::Space space = spec::load_space(name);
      json.push_back({{"name", name}, {"log10_models", space.log10_size()}, {"about", space.about}});
      if (!json_) std::printf("%-16s 10^%-6.1f %s\n", name.c_str(), space.log10_size(), space.about.c_str());
    }
    if (json_) std::printf("%s\n", json.dump(2).c_str());
  }

  static std::string describe_blocks(const spec::ModelSpec& model) {
    std::string line = model.arch;
    for (const spec::Size& size : spec::sizes()) {
      std::vector<int64_t> values;
      for (const spec::Block& block : model.blocks()) {
        if (block[size.name] > 0) values.push_back(block[size.name]);
      }
      if (values.empty()) continue;
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      line += text(", ", size.name, " ", *least, *least == *most ? "" : text("..", *most));
    }
    return text(line, ", width ", model.width);
  }

  void print(const search::SearchResult& r) const {
    if (search::strategies().find(request_.strategy).is_exhaustive) {
      std::printf("%zu of 10^%.1f models are on the frontier of score, latency and memory\n\n", r.frontier,
                  request_.space.log10_size());
    } else {
      std::printf("%zu models evaluated, %zu on the frontier of score, latency and memory\n\n", r.evaluated,
                  r.frontier);
    }
    const bool by_law = search::proxies().find(request_.proxy).by_law;
    if (!by_law)
      std::printf("score: %s, %s\n", request_.proxy.c_str(),
                  search::proxies().find(request_.proxy).meaning.c_str());
    std::printf("%-24s %10s %10s %10s %10s %10s %11s %10s  %s\n", "model", by_law ? "bits/byte" : "score",
                "decoder", "predicted", "measured", "step", "first token", "memory", "blocks");
    for (const auto& m : r.models) print_row(m, by_law);
    if (!r.baselines.empty()) std::printf("\n");
    for (const auto& m : r.baselines) print_row(m, by_law);
    // A law is fitted to short trainings, and says little of models that need long ones.
    if (!by_law) print_gains(r);
    print_finalists(r);
    print_rivals(r);
    for (const auto& m : r.dominated)
      std::printf("left out: %s, measured at %s with %s, is not better than another\n", m.name.c_str(),
                  format_seconds(m.measured.median).c_str(), format_bytes(m.planned).c_str());
    for (const auto& m : r.dropped)
      std::printf(
          "dropped: %s was predicted at %s and measured at %s, planned %s: beyond the limit on %s\n",
          m.name.c_str(), format_seconds(m.predicted.cost.latency).c_str(),
          format_seconds(m.measured.held()).c_str(), format_bytes(m.planned).c_str(),
          m.measured.held() > request_.limits.latency ? "latency"
          : m.measured_step.held() > request_.limits.step
              ? text("the latency of a step, which took ", format_seconds(m.measured_step.held())).c_str()
          : m.first_token().held() > request_.limits.first_token
              ? text("the time to the first token, which took ", format_seconds(m.first_token().held()))
                    .c_str()
              : "memory");
    const auto took = [](const char* what, double seconds) {
      return seconds < 0.01 ? "" : text(", ", what, " ", format_seconds(seconds));
    };
    std::printf("\nprofile %s%s, search %s, measuring %s%s%s. Written: %s/pareto.csv, frontier.csv%s\n",
                format_seconds(r.seconds_profile).c_str(), took("law", r.seconds_fit).c_str(),
                format_seconds(r.seconds_search).c_str(), format_seconds(r.seconds_measure).c_str(),
                took("finalists", r.seconds_train).c_str(), took("comparison", r.seconds_compare).c_str(),
                out_.c_str(), r.models.empty() ? "" : ", models/, pick");
    if (!r.models.empty()) std::printf("next: heed train %s/pick --data TEXT -o RUN\n", out_.c_str());
  }

  // How much faster and smaller models are that are as good as the baselines.
  void print_gains(const search::SearchResult& r) const {
    for (const auto& b : r.baselines) {
      const search::FoundModel* rival = nullptr;
      for (const auto& m : r.models) {
        if (m.predicted.score >= b.predicted.score && (!rival || m.measured.median < rival->measured.median))
          rival = &m;
      }
      if (rival)
        std::printf("%s is as good as %s by %s: %.2fx faster, %.2fx smaller\n", rival->name.c_str(),
                    b.name.c_str(), request_.proxy.c_str(), b.measured.median / rival->measured.median,
                    static_cast<double>(b.planned) / static_cast<double>(rival->planned));
    }
  }

  // What finalists were predicted to reach after the whole training, and what they have reached in a part of
  // it.
  void print_finalists(const search::SearchResult& r) const {
    std::vector<const search::FoundModel*> trained;
    for (const auto* models : {&r.models, &r.dominated}) {
      for (const auto& m : *models) {
        if (!m.trained.empty()) trained.push_back(&m);
      }
    }
    if (trained.size() < 2) return;
    std::ranges::stable_sort(trained, [](const auto* a, const auto* b) {
      const search::Moment &one = a->trained.back(), &other = b->trained.back();
      return one.tokens != other.tokens ? one.tokens > other.tokens : one.bits_per_byte < other.bits_per_byte;
    });
    std::printf("\nfinalists, trained on %s\n%-24s %10s %10s %10s %10s  %s\n", request_.sample.data.c_str(),
                "model", "tokens", "bits/byte", "predicted", "measured", "blocks");
    for (const auto* m : trained)
      std::printf("%-24s %10s %10.3f %10.3f %10s  %s\n", m->name.c_str(),
                  format_count(static_cast<double>(m->trained.back().tokens)).c_str(),
                  m->trained.back().bits_per_byte, -m->predicted.score,
                  format_seconds(m->measured.median).c_str(), describe_blocks(m->model).c_str());
    std::printf("predicted: bits per byte after the whole training\n");
  }

  // What the search gains over published arrangements of the same latency.
  static void print_rivals(const search::SearchResult& r) {
    const search::FoundModel* pick = r.recommended();
    if (r.rivals.empty() || !pick || pick->trained.empty()) return;
    const auto reached = [](const search::FoundModel& m) { return m.trained.back().bits_per_byte; };
    std::printf("\nagainst published arrangements of the same latency, all trained on %s tokens\n",
                format_count(static_cast<double>(pick->trained.back().tokens)).c_str());
    std::printf("%-24s %10s %10s %10s %10s  %s\n", "model", "bits/byte", "gain", "measured", "memory",
                "blocks");
    const auto row = [&](const search::FoundModel& m, const std::string& gain) {
      std::printf("%-24s %10s %10s %10s %10s  %s\n", m.name.c_str(),
                  m.trained.empty() ? "-" : bits(reached(m)).c_str(), gain.c_str(),
                  format_seconds(m.measured.median).c_str(), format_bytes(m.planned).c_str(),
                  describe_blocks(m.model).c_str());
    };
    row(*pick, "");
    bool untrained = false;
    for (const search::FoundModel& rival : r.rivals) {
      row(rival, rival.trained.empty() ? "-" : bits(reached(rival) - reached(*pick)));
      untrained = untrained || rival.trained.empty();
    }
    if (untrained)
      std::printf("-: there was no time to train it; give a longer --compare and another folder\n");
  }

  static std::string bits(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3f", value);
    return digits;
  }

  static void print_row(const search::FoundModel& m, bool by_law) {
    std::string picks;
    for (const std::string& pick : m.picks) picks += text(picks.empty() ? " " : "+", pick.substr(0, 8));
    const std::string name = text(m.name, picks);
    const double predicted = m.predicted.cost.latency;
    const std::string quality = by_law ? bits(-m.predicted.score) : format_score(m.predicted.score);
    const std::string decoder = format_count(static_cast<double>(m.predicted.cost.decoder));
    std::printf("%-24s %10s %10s %10s %10s %10s %11s %10s  %s\n", name.c_str(), quality.c_str(),
                decoder.c_str(), predicted > 0 ? format_seconds(predicted).c_str() : "-",
                format_seconds(m.measured.held()).c_str(), format_seconds(m.measured_step.held()).c_str(),
                format_seconds(m.first_token().held()).c_str(), format_bytes(m.planned).c_str(),
                describe_blocks(m.model).c_str());
  }

  std::string space_, genes_, out_, profile_, objective_ = enum_name(search::Objective::kPrompt);
  std::optional<double> latency_, step_, first_token_;
  std::optional<int64_t> memory_, parameters_, file_;
  search::SearchRequest request_;
  StrategyFlags strategy_flags_;
  SettingsFlags<search::SampleSettings> sample_;
  bool list_ = false, json_ = false, no_baselines_ = false;
};

}  // namespace

VerbEntry search_verb() {
  return entry<Search>(
      "search", "Finds the best models of a space for this device, within limits on time and memory.",
      {"heed search --list", "heed search letters --max-latency 20ms --max-memory 48MiB -o found"});
}

}  // namespace heed::cli
