#include "heed/cli/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <sstream>

#include "heed/base/files.h"
#include "heed/base/units.h"
#include "heed/cli/genes_flag.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/terminal_observer.h"
#include "heed/cli/training_models.h"
#include "heed/search/ranking.h"
#include "heed/search/trained_models.h"
#include "heed/spec/space_definition.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::cli {
namespace {

constexpr size_t kShownMismatches = 5;

// Progress of scores that run models.
class Scoring : public TerminalObserver<train::ResumableObserver> {
 public:
  void scoring(const std::string& proxy, const search::ScoringProgress& p) {
    line_.count("scoring by " + proxy, p.done, p.all, "models", p.share);
  }
};

class Rank : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.path("table", table_, "CSV file of trained models, one per row");
    flags.option("space", space_, "instead of a table: train random models of this space");
    declare_genes(flags, genes_);
    flags.option("models", models_, "with --space: number of models; default: 20");
    flags.path("o,out", out_,
               "folder for ranking.json, the scores and, with --space, the models; rerun the same command to "
               "resume");
    flags.option("max-steps", steps_, "with --space: training steps of each; default: the space's");
    flags.option("seed", seed_, "with --space: seed of the random choice of models");
    flags.option("proxy", names_,
                 "comma-separated scores; default: those computed from sizes alone; one or more of " +
                     search::proxies().names());
    sample_.declare(flags);
    flags.option("backbone", backbone_,
                 "backbone of rows that do not name one: " + spec::backbones().names());
    flags.flag("json", json_, "print JSON");
  }

  void run() override {
    if (table_.empty() == space_.empty())
      throw usage_error(
          "rank: give a table of trained models with --table FILE.csv, or train some with --space");
    if (space_.empty() && (models_ || steps_))
      throw usage_error(
          "rank: --models and --max-steps need --space; the models of a table are trained already");
    if (!backbone_.empty()) spec::backbones().find(backbone_);
    if (!out_.empty() && std::filesystem::exists(out_) && !std::filesystem::is_directory(out_))
      throw usage_error("rank: ", out_, " is not a folder; give one with -o FOLDER");
    const search::SampleSettings settings = sample_.over({}, "rank");
    validate(settings);
    const std::vector<search::Proxy> proxies = chosen();
    const auto rows = space_.empty() ? from_table() : trained(settings.data);
    const auto wrong = search::mismatches(rows);
    const std::vector<search::Ranking> rankings = ranked(rows, proxies, settings);
    if (!out_.empty())
      store::write_json_object(std::filesystem::path(out_) / "ranking.json", search::to_json(rows, rankings));
    json_ ? print_json(rows, wrong, rankings) : print(rows, wrong, rankings);
    warn(search::models_by_percent(rows));
  }

 private:
  std::vector<search::Ranking> ranked(const std::vector<search::TableRow>& rows,
                                      const std::vector<search::Proxy>& proxies,
                                      const search::SampleSettings& settings) const {
    std::optional<TemporaryFolder> temporary;
    if (out_.empty()) temporary.emplace();
    const std::filesystem::path folder = temporary ? temporary->path() : std::filesystem::path(out_);
    std::optional<StopSignals> signals;
    if (std::ranges::any_of(proxies, &search::Proxy::runs)) signals.emplace();
    Scoring observer;
    search::Sample sample(settings, folder / "cache", [&] {
      if (!out_.empty()) return observer.check_stop();
      if (observer.stop())
        throw interrupted_error(
            "interrupted; with -o FOLDER scores are kept, and rerunning the same command resumes");
    });
    for (const search::Proxy& proxy : proxies) sample.check(proxy);
    search::ScoreLog log(folder);
    std::vector<search::Ranking> rankings;
    for (const search::Proxy& proxy : proxies) {
      const auto progress = [&](const search::ScoringProgress& p) { observer.scoring(proxy.name, p); };
      rankings.push_back(search::rank(rows, proxy.name,
                                      proxy.runs ? search::score_models(rows, proxy, sample, log, progress)
                                                 : search::count_models(rows, proxy)));
    }
    return rankings;
  }

  static void warn(const std::vector<size_t>& models) {
    for (size_t i = models.size(); i-- > 0;) {
      if (models[i] == 0 || models[i] >= search::kFewModels) continue;
      std::fprintf(stderr,
                   "warning: coefficients up to the best %lld%% (%s) are computed from fewer than %zu models "
                   "and mostly chance; look at the 95%% intervals, or train more models\n",
                   static_cast<long long>(search::kPercents[i]),
                   format_plural(static_cast<int64_t>(models[i]), "model").c_str(), search::kFewModels);
      return;
    }
  }

  // A folder of another kind, or in use, is refused. More models, other scores and other texts are allowed:
  // trained models check those themselves.
  void open_folder(const Json& ranking) {
    if (out_.empty()) return;
    folder_.emplace(out_, store::RunKind::kRank, Json{{"ranking", ranking}}, run_record(),
                    store::Reopening{.upgrade = [](const Json& before) {
                      return Json{{"ranking", spec::with_space_definition(before.value("ranking", Json()))}};
                    }});
  }

  void check_perplexity(const std::vector<search::TableRow>& rows) const {
    if (!names_.empty() && without_perplexity(rows) == static_cast<int64_t>(rows.size()))
      throw usage_error("rank: ", table_, " has no perplexity (valid_ppl) to rank by");
  }

  std::vector<search::TableRow> from_table() {
    auto rows = search::read_model_table(table_, backbone_);
    check_perplexity(rows);  // before the folder is bound to this table
    open_folder({{"table", std::filesystem::absolute(table_).lexically_normal().string()}});
    return rows;
  }

  std::vector<search::TableRow> trained(const std::string& data) {
    if (data.empty()) throw usage_error("rank: give a text to train on with --data PATH");
    if (out_.empty()) throw usage_error("rank: give a folder for the models with -o FOLDER");
    search::TrainedModelsRequest request{
        spec::load_space(space_, genes_), models_.value_or(20), seed_, data, out_, run_record()};
    if (steps_) request.space.training.steps = *steps_;
    validate(request.space.training);
    const StopSignals signals;
    TrainingModels observer;
    open_folder({{"space", request.space.name},
                 {spec::kSpaceDefinition, request.space.source},
                 {"seed", seed_},
                 {"steps", request.space.training.steps}});
    std::vector<search::TableRow> rows;
    folder_->begin([&] { rows = search::train_models(request, observer); },
                   [&] { return std::filesystem::exists(request.folder / "m001"); });
    return rows;
  }

  std::vector<search::Proxy> chosen() const {
    std::vector<search::Proxy> proxies;
    if (names_.empty()) {
      for (const search::Proxy& proxy : search::proxies()) {
        if (!proxy.runs && !proxy.by_law)
          proxies.push_back(proxy);  // others take seconds per model, or a text
      }
      return proxies;
    }
    std::istringstream names(names_);
    for (std::string name; std::getline(names, name, ',');) proxies.push_back(search::proxies().find(name));
    return proxies;
  }

  static int64_t without_perplexity(const std::vector<search::TableRow>& rows) {
    return std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.perplexity; });
  }

  static Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

  static Json by_percent(const std::vector<search::Coefficient>& coefficients) {
    Json json = Json::object();
    for (size_t i = 0; i < coefficients.size(); ++i)
      json[text(search::kPercents[i])] = number(coefficients[i].value);
    return json;
  }

  static Json intervals_by_percent(const std::vector<search::Coefficient>& coefficients) {
    Json json = Json::object();
    for (size_t i = 0; i < coefficients.size(); ++i) {
      const search::Interval& interval = coefficients[i].interval;
      json[text(search::kPercents[i])] = {number(interval.low), number(interval.high)};
    }
    return json;
  }

  static void print_json(const std::vector<search::TableRow>& rows,
                         const std::vector<search::Mismatch>& wrong,
                         const std::vector<search::Ranking>& rankings) {
    const std::vector<size_t> models = search::models_by_percent(rows);
    Json json = {{"rows", rows.size()},
                 {"without_perplexity", without_perplexity(rows)},
                 {"models", Json::object()},
                 {"few_models", search::kFewModels},
                 {"count_mismatches", wrong.size()},
                 {"mismatches", Json::array()},
                 {"proxies", Json::object()}};
    for (const auto& m : wrong)
      json["mismatches"].push_back(
          {{"id", m.id}, {"column", m.column}, {"stated", m.stated}, {"counted", m.counted}});
    for (size_t i = 0; i < models.size(); ++i) json["models"][text(search::kPercents[i])] = models[i];
    for (const search::Ranking& r : rankings) {
      Json& one = json["proxies"][r.proxy];
      one = {{"spearman", number(r.spearman)},
             {"spearman_top", by_percent(r.spearman_top)},
             {"spearman_intervals", intervals_by_percent(r.spearman_top)},
             {"common_ratio", by_percent(r.common_ratio)},
             {"common_ratio_intervals", intervals_by_percent(r.common_ratio)},
             {"d_avg", r.distance ? number(*r.distance) : Json()},
             {"seconds", r.seconds}};
      if (&r == &rankings.front()) continue;
      const auto difference = search::difference(rows, r, rankings.front());
      one["difference"] = {{"from", rankings.front().proxy},
                           {"spearman_top", by_percent(difference)},
                           {"spearman_intervals", intervals_by_percent(difference)}};
    }
    std::printf("%s\n", json.dump(2).c_str());
  }

  void print(const std::vector<search::TableRow>& rows, const std::vector<search::Mismatch>& wrong,
             const std::vector<search::Ranking>& rankings) const {
    const int64_t missing = without_perplexity(rows);
    std::printf("%s: %zu models%s\n", (table_.empty() ? space_ : table_).c_str(), rows.size(),
                missing ? text(", ", missing, " of them without a perplexity and left out").c_str() : "");
    if (wrong.empty()) {
      std::printf("parameter counts: every size in the table agrees\n");
    } else {
      std::printf("parameter counts: differences from the table: %zu\n", wrong.size());
      for (size_t i = 0; i < std::min(wrong.size(), kShownMismatches); ++i)
        std::printf("  %s: %s is %lld, counted %lld\n", wrong[i].id.c_str(), wrong[i].column.c_str(),
                    static_cast<long long>(wrong[i].stated), static_cast<long long>(wrong[i].counted));
      if (wrong.size() > kShownMismatches) std::printf("  ... --json lists all\n");
    }
    const std::vector<size_t> models = search::models_by_percent(rows);
    begin_table("Spearman's coefficient inside the best", models);
    for (const search::Ranking& r : rankings) print_coefficients(r.proxy, r.spearman_top);
    begin_table("common ratio of the best", models);
    for (const search::Ranking& r : rankings) print_coefficients(r.proxy, r.common_ratio);
    if (rankings.size() > 1)
      begin_table(text("Spearman's coefficient, minus that of ", rankings[0].proxy), models);
    for (const search::Ranking& r : rankings) {
      if (&r != &rankings.front()) print_coefficients(r.proxy, search::difference(rows, r, rankings.front()));
    }
    print_best(rows, rankings);
    const auto timed = std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.latency; });
    if (timed > 0 && !rankings.empty() && !rankings[0].distance)
      std::printf("\nno distance of frontiers: %lld of %zu models have a latency\n",
                  static_cast<long long>(timed), rows.size());
    for (const search::Ranking& r : rankings) {
      if (r.distance)
        std::printf("%s%-18s mean distance of its frontier to the true one: %.2f%%\n",
                    &r == &rankings.front() ? "\n" : "", r.proxy.c_str(), 100 * *r.distance);
    }
  }

  static void begin_table(const std::string& title, const std::vector<size_t>& models) {
    std::printf("\n%s\n%-18s", title.c_str(), "proxy");
    for (const int64_t percent : search::kPercents) std::printf("%7lld%%", static_cast<long long>(percent));
    std::printf("\n%-18s", "models");
    for (const size_t count : models) std::printf("%8zu", count);
    std::printf("\n");
  }

  // With the 95% interval below.
  static void print_coefficients(const std::string& proxy,
                                 const std::vector<search::Coefficient>& coefficients) {
    const auto row = [&](const std::string& title, const auto& value) {
      std::printf("%-18s", title.c_str());
      for (const search::Coefficient& one : coefficients) {
        const double number = value(one);
        std::isfinite(number) ? std::printf("%8.4f", number) : std::printf("%8s", "-");
      }
      std::printf("\n");
    };
    row(proxy, [](const search::Coefficient& one) { return one.value; });
    row("  95% from", [](const search::Coefficient& one) { return one.interval.low; });
    row("       to", [](const search::Coefficient& one) { return one.interval.high; });
  }

  // The model that each score chooses.
  static void print_best(const std::vector<search::TableRow>& rows,
                         const std::vector<search::Ranking>& rankings) {
    std::vector<const search::TableRow*> with_perplexity;
    for (const search::TableRow& row : rows) {
      if (row.perplexity) with_perplexity.push_back(&row);
    }
    if (with_perplexity.empty()) return;
    const auto perplexity = [](const search::TableRow* row) { return *row->perplexity; };
    const search::TableRow& best = *std::ranges::min(with_perplexity, {}, perplexity);
    std::printf("\nthe best model by perplexity is %s, %.2f\n", best.id.c_str(), *best.perplexity);
    for (const search::Ranking& r : rankings) {
      const auto known = [](double score) { return std::isnan(score) ? -INFINITY : score; };
      const auto highest = std::ranges::max_element(r.scores, {}, known);
      const auto at = static_cast<size_t>(highest - r.scores.begin());
      const search::TableRow& chosen = *with_perplexity[at];
      std::printf("%-18s chooses %s: score %s, perplexity %.2f\n", r.proxy.c_str(), chosen.id.c_str(),
                  format_score(r.scores[at]).c_str(), *chosen.perplexity);
    }
  }

  std::string table_, names_, backbone_, space_, genes_, out_;
  int64_t seed_ = 1;
  std::optional<int64_t> models_, steps_;
  SettingsFlags<search::SampleSettings> sample_;
  std::optional<store::RunFolder> folder_;
  bool json_ = false;
};

}  // namespace

VerbEntry rank_verb() {
  return entry<Rank>("rank", "Measures how well scores that need no training rank trained models.",
                     {"heed rank --table models.csv --proxy decoder_params,effective_params",
                      "heed rank --space letters --models 20 --data book.txt -o ranked"});
}

}  // namespace heed::cli
