#include "heed/cli/search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heed/base/units.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/strategy_flags.h"
#include "heed/cli/terminal_observer.h"
#include "heed/cli/user_profile.h"
#include "heed/measure/timing.h"
#include "heed/search/search_run.h"
#include "heed/spec/arch.h"

namespace heed::cli {
namespace {

class Observer : public TerminalObserver<search::SearchObserver> {
 public:
  void profiling(const search::ProfileProgress& p) override {
    if (p.done < p.all) line_.count("profiling this device", p.done, p.all, "timings", p.share);
  }
  void searching(size_t evaluated) override { line_.show(text("searching: ", evaluated, " models"), false); }
  void searching_share(double share) override {
    line_.count("searching", static_cast<size_t>(100 * share), 100, "percent", share);
  }
  void measuring(size_t done, size_t all) override {
    line_.count("measuring whole models", done, all, "rounds");
  }
};

class Search : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("space", space_, "name of a space or a TOML file", false);
    flags.path("o,out", out_, "folder of the search; the same command resumes where it stopped");
    flags.seconds("max-latency", latency_, "for a whole segment, such as 20ms");
    flags.bytes("max-memory", memory_, "planned: weights, state and working memory, such as 48MiB");
    flags.option("max-parameters", parameters_, "in total, such as 12M");
    flags.option("strategy", request_.strategy, search::strategies().names(), check_strategy);
    flags.option("proxy", request_.proxy, "score that estimates quality: " + search::proxies().names());
    flags.flag("measure-all", request_.measure_all,
               "time every candidate as a whole instead of summing its pieces");
    flags.option("keep", request_.keep, "approximate number of models of the frontier to measure and report");
    flags.flag("no-baselines", no_baselines_, "measure no published models beside the frontier");
    flags.path("profile", profile_, "database of this device's profile; one per user if not given");
    flags.flag("list", list_, "list the spaces");
    flags.flag("json", json_, "print JSON");
    sample_.declare(flags);
    strategy_flags_.declare(flags);
  }

  void run() override {
    if (list_) return list();
    if (space_.empty()) throw usage_error("search: name a space; `heed search --list` shows them");
    if (out_.empty()) throw usage_error("search: give a folder with -o FOLDER");
    request_.space = spec::load_space(space_);
    if (latency_) request_.limits.latency = *latency_;
    if (memory_) request_.limits.memory = *memory_;
    if (parameters_) request_.limits.total = *parameters_;
    request_.settings = strategy_flags_.settings_of(request_.strategy);
    request_.sample = sample_.over({}, "search");
    request_.baselines = !no_baselines_;
    request_.folder = out_;
    request_.profile = profile_path(profile_);
    request_.record = run_record();
    std::fprintf(stderr, "space %s: %s, 10^%.1f models\n", request_.space.name.c_str(),
                 request_.space.about.c_str(), request_.space.log10_size());
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
          "search: every model measured exceeds a limit; loosen it, or search again on a quiet machine, "
          "in both cases with another folder");
  }

 private:
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
                 ratio > 1 ? "search again in another folder when it is quiet"
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
    std::string line = spec::format_arch(model.letters());
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
    std::printf("%-24s %10s %10s %10s %10s  %s\n", "model", "decoder", "predicted", "measured", "memory",
                "blocks");
    for (const auto& m : r.models) print_row(m);
    if (!r.baselines.empty()) std::printf("\n");
    for (const auto& m : r.baselines) print_row(m);
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
    for (const auto& m : r.dominated)
      std::printf("left out: %s, measured at %s with %s, is not better than another\n", m.name.c_str(),
                  format_seconds(m.measured.median).c_str(), format_bytes(m.planned).c_str());
    for (const auto& m : r.dropped)
      std::printf("dropped: %s was predicted at %s and measured at %s, planned %s: beyond the limit on %s\n",
                  m.name.c_str(), format_seconds(m.predicted.cost.latency).c_str(),
                  format_seconds(m.measured.median).c_str(), format_bytes(m.planned).c_str(),
                  m.measured.median > request_.limits.latency ? "latency" : "memory");
    std::printf("\nprofile %s, search %s, measuring %s. Written: %s/pareto.csv, frontier.csv%s\n",
                format_seconds(r.seconds_profile).c_str(), format_seconds(r.seconds_search).c_str(),
                format_seconds(r.seconds_measure).c_str(), out_.c_str(),
                r.models.empty() ? "" : ", models/, pick");
    if (!r.models.empty()) std::printf("next: heed train %s/pick --data TEXT -o RUN\n", out_.c_str());
  }

  static void print_row(const search::FoundModel& m) {
    std::string picks;
    for (const std::string& pick : m.picks) picks += text(picks.empty() ? " " : "+", pick.substr(0, 8));
    const std::string name = text(m.name, picks);
    const double predicted = m.predicted.cost.latency;
    std::printf("%-24s %10s %10s %10s %10s  %s\n", name.c_str(),
                format_count(static_cast<double>(m.predicted.cost.decoder)).c_str(),
                predicted > 0 ? format_seconds(predicted).c_str() : "-",
                format_seconds(m.measured.median).c_str(), format_bytes(m.planned).c_str(),
                describe_blocks(m.model).c_str());
  }

  std::string space_, out_, profile_;
  std::optional<double> latency_;
  std::optional<int64_t> memory_, parameters_;
  search::SearchRequest request_;
  StrategyFlags strategy_flags_;
  SettingsFlags<search::SampleSettings> sample_;
  bool list_ = false, json_ = false, no_baselines_ = false;
};

}  // namespace

VerbEntry search_verb() {
  return {"search",
          "Finds the best models of a space for this device, within limits on time and memory.",
          {"heed search --list", "heed search letters --max-latency 20ms --max-memory 48MiB -o found"},
          []() -> std::unique_ptr<Verb> { return std::make_unique<Search>(); }};
}

}  // namespace heed::cli
