#include "heed/cli/search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heed/base/units.h"
#include "heed/cli/progress_line.h"
#include "heed/cli/run_record.h"
#include "heed/cli/search_supernet.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/user_profile.h"
#include "heed/measure/session_timing.h"
#include "heed/search/search_run.h"
#include "heed/spec/arch.h"

namespace heed::cli {
namespace {

class Observer : public search::SearchObserver {
 public:
  void note(const std::string& sentence) override { line_.say(sentence); }
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
  bool stop() override { return StopSignals::asked(); }

 private:
  ProgressLine line_;
};

class Search : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("space", space_,
                     "name of a space or a TOML file; with --strategy supernet, of a recipe or its file",
                     false);
    flags.path("o,out", out_, "folder of the search; the same command goes on where it stopped");
    flags.seconds("max-latency", latency_, "for a whole segment, such as 20ms");
    flags.bytes("max-memory", memory_, "planned: weights, state and working memory, such as 48MiB");
    flags.option("max-parameters", parameters_, "all of them, such as 12M");
    flags.option("strategy", request_.strategy, search::strategies().names());
    flags.option("proxy", request_.proxy, "what stands for quality: " + search::proxies().names());
    flags.flag("measure-all", request_.measure_all,
               "time every candidate whole instead of summing its pieces");
    flags.option("keep", request_.keep, "how many models of the frontier to measure and report, about");
    flags.flag("no-baselines", no_baselines_, "measure no published models beside the frontier");
    flags.path("profile", profile_, "database of this device's profile; one per user if not given");
    flags.flag("list", list_, "list the spaces");
    flags.flag("json", json_, "print JSON");
    sample_.declare(flags);
    settings_.declare(flags);
    supernet_.declare(flags);
  }

  void run() override {
    if (list_) return list();
    if (!search::strategies().find(request_.strategy).make) return run_supernet();
    if (const std::string flag = supernet_.first_given(); !flag.empty())
      throw usage_error("search: --", flag, " belongs to --strategy supernet; this is ", request_.strategy);
    if (space_.empty()) throw usage_error("search: name a space; `heed search --list` shows them");
    if (out_.empty()) throw usage_error("search: give a folder with -o FOLDER");
    request_.space = spec::load_space(space_);
    if (latency_) request_.limits.latency = *latency_;
    if (memory_) request_.limits.memory = *memory_;
    if (parameters_) request_.limits.total = *parameters_;
    request_.settings = settings_.over({}, "search");
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
      throw Error(
          "search: every model measured breaks a limit; loosen it, or search again on a quiet machine, "
          "in both cases with another folder",
          kInfeasible);
  }

 private:
  void run_supernet() {
    const search::SearchRequest usual;
    std::string other = settings_.first_given({"seed"});
    if (other.empty()) other = sample_.first_given({"data"});
    for (const auto& [flag, given] : {std::pair{"max-latency", latency_.has_value()},
                                      {"max-memory", memory_.has_value()},
                                      {"max-parameters", parameters_.has_value()},
                                      {"measure-all", request_.measure_all},
                                      {"no-baselines", no_baselines_},
                                      {"proxy", request_.proxy != usual.proxy},
                                      {"keep", request_.keep != usual.keep}}) {
      if (given) other = flag;
    }
    if (!other.empty())
      throw usage_error(
          "search: --", other,
          " belongs to searches of a space; a supernet takes its sizes from the recipe, and what "
          "time is worth from --latency-term");
    supernet_.run(
        {.recipe = space_,
         .data = sample_.over({}, "search").data,
         .out = out_,
         .profile = profile_,
         .seed = settings_.given("seed") ? std::optional(settings_.over({}, "search").seed) : std::nullopt,
         .json = json_});
  }

  // Sums of pieces are within a few percent of whole models on a machine that does nothing else.
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

  static std::string blocks_of(const spec::ModelSpec& model) {
    std::string blocks = spec::format_arch(model.letters());
    const auto add = [&](const char* name, const std::vector<int64_t>& list, const char* letters) {
      if (model.letters().find_first_of(letters) == std::string::npos) return;
      const auto [least, most] = std::minmax_element(list.begin(), list.end());
      blocks += *least == *most ? text(", ", name, " ", *least) : text(", ", name, " ", *least, "..", *most);
    };
    add("heads", model.heads, "s");
    add("inner", model.inner, "f");
    add("projection", model.projection, "ra");
    return text(blocks, ", width ", model.width);
  }

  void print(const search::SearchResult& r) const {
    if (request_.strategy == "exact") {
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
      std::printf("left out: %s, measured at %s with %s, is no better than another\n", m.name.c_str(),
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
                blocks_of(m.model).c_str());
  }

  std::string space_, out_, profile_;
  std::optional<double> latency_;
  std::optional<int64_t> memory_, parameters_;
  search::SearchRequest request_;
  SettingsFlags<search::SearchSettings> settings_;
  SettingsFlags<search::SampleSettings> sample_;
  SupernetSearch supernet_;
  bool list_ = false, json_ = false, no_baselines_ = false;
};

}  // namespace

VerbEntry search_verb() {
  return {"search",
          "Finds the best models of a space for this device, within limits on time and memory.",
          {"heed search --list", "heed search letters --max-latency 20ms --max-memory 48MiB -o found",
           "heed search --strategy supernet txl-3m-bytes --data book.txt -o where --layers 12 --dry-run"},
          []() -> std::unique_ptr<Verb> { return std::make_unique<Search>(); }};
}

}  // namespace heed::cli
