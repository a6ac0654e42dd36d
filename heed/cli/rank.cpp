#include "heed/cli/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <sstream>

#include "heed/base/files.h"
#include "heed/cli/genes_flag.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/training_models.h"
#include "heed/search/ranking.h"
#include "heed/search/trained_models.h"
#include "heed/spec/space_definition.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::cli {
namespace {

constexpr size_t kShownMismatches = 5;

class Rank : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.path("table", table_, "CSV file of trained models, one per row");
    flags.option("space", space_, "instead of a table: train random models of this space");
    declare_genes(flags, genes_);
    flags.option("models", models_, "with --space: how many, 20 if not given");
    flags.path("o,out", out_,
               "folder for ranking.json, and with --space for the models; the same command resumes");
    flags.option("max-steps", steps_, "with --space: updates for each; the space's if not given");
    flags.option("seed", seed_, "with --space: which models");
    flags.option("proxy", names_,
                 "scores, separated by commas; those that follow from the sizes alone if not given: " +
                     search::proxies().names());
    sample_.declare(flags);
    flags.option("backbone", backbone_, "of rows that do not name one: " + spec::backbones().names());
    flags.flag("json", json_, "print JSON");
  }

  void run() override {
    if (table_.empty() == space_.empty())
      throw usage_error(
          "rank: give a table of trained models with --table FILE.csv, or train some with --space");
    if (space_.empty() && (models_ || steps_))
      throw usage_error("rank: --models and --max-steps go with --space; the models of a table are trained");
    if (!backbone_.empty()) spec::backbones().find(backbone_);
    if (!out_.empty() && std::filesystem::exists(out_) && !std::filesystem::is_directory(out_))
      throw usage_error("rank: ", out_, " is not a folder; give one with -o FOLDER");
    const search::SampleSettings settings = sample_.over({}, "rank");
    validate(settings);
    const std::vector<search::Proxy> proxies = chosen();
    const auto rows = space_.empty() ? from_table() : trained(settings.data);
    if (!names_.empty() && without_perplexity(rows) == static_cast<int64_t>(rows.size()))
      throw usage_error("rank: ", table_, " has no perplexity (valid_ppl) to rank by");
    const auto wrong = search::mismatches(rows);
    std::vector<search::Ranking> rankings;
    std::optional<TemporaryFolder> temporary;
    if (out_.empty()) temporary.emplace();
    search::Sample sample(settings, temporary ? temporary->path() : std::filesystem::path(out_) / "cache");
    for (const search::Proxy& proxy : proxies) sample.check(proxy);
    for (const search::Proxy& proxy : proxies) rankings.push_back(search::rank(rows, proxy, sample));
    if (!out_.empty())
      store::write_json_object(std::filesystem::path(out_) / "ranking.json", search::to_json(rows, rankings));
    json_ ? print_json(rows, wrong, rankings) : print(rows, wrong, rankings);
  }

 private:
  // A folder of another kind, or in use, is refused. More models, other scores and other texts are allowed:
  // trained models check those themselves.
  void open_folder(const Json& ranking) {
    if (out_.empty()) return;
    folder_.emplace(out_, store::RunKind::kRank, Json{{"ranking", ranking}}, run_record(),
                    store::Reopening{.upgrade = [](const Json& before) {
                      return Json{{"ranking", spec::with_space_definition(before.value("ranking", Json()))}};
                    }});
  }

  std::vector<search::TableRow> from_table() {
    auto rows = search::read_model_table(table_, backbone_);
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

  static Json by_percent(const std::vector<double>& values) {
    Json json = Json::object();
    for (size_t i = 0; i < values.size(); ++i) json[text(search::kPercents[i])] = number(values[i]);
    return json;
  }

  static void print_json(const std::vector<search::TableRow>& rows,
                         const std::vector<search::Mismatch>& wrong,
                         const std::vector<search::Ranking>& rankings) {
    Json json = {{"rows", rows.size()},
                 {"without_perplexity", without_perplexity(rows)},
                 {"count_mismatches", wrong.size()},
                 {"mismatches", Json::array()},
                 {"proxies", Json::object()}};
    for (const auto& m : wrong)
      json["mismatches"].push_back(
          {{"id", m.id}, {"column", m.column}, {"stated", m.stated}, {"counted", m.counted}});
    for (const search::Ranking& r : rankings) {
      json["proxies"][r.proxy] = {{"spearman", number(r.spearman)},
                                  {"spearman_top", by_percent(r.spearman_top)},
                                  {"common_ratio", by_percent(r.common_ratio)},
                                  {"d_avg", r.distance ? number(*r.distance) : Json()},
                                  {"seconds", r.seconds}};
    }
    std::printf("%s\n", json.dump(2).c_str());
  }

  void print(const std::vector<search::TableRow>& rows, const std::vector<search::Mismatch>& wrong,
             const std::vector<search::Ranking>& rankings) const {
    const int64_t missing = without_perplexity(rows);
    std::printf("%s: %zu models%s\n", (table_.empty() ? space_ : table_).c_str(), rows.size(),
                missing ? text(", ", missing, " of them without a perplexity and left out").c_str() : "");
    if (wrong.empty()) {
      std::printf("counted again: every stated size agrees\n");
    } else {
      std::printf("counted again: %zu stated sizes differ\n", wrong.size());
      for (size_t i = 0; i < std::min(wrong.size(), kShownMismatches); ++i)
        std::printf("  %s: %s is %lld, counted %lld\n", wrong[i].id.c_str(), wrong[i].column.c_str(),
                    static_cast<long long>(wrong[i].stated), static_cast<long long>(wrong[i].counted));
      if (wrong.size() > kShownMismatches) std::printf("  ... --json lists all\n");
    }
    print_table("Spearman's coefficient inside the best", rankings, &search::Ranking::spearman_top);
    print_table("common ratio of the best", rankings, &search::Ranking::common_ratio);
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

  static void print_table(const char* title, const std::vector<search::Ranking>& rankings,
                          std::vector<double> search::Ranking::*values) {
    std::printf("\n%s\n%-18s", title, "proxy");
    for (const int64_t percent : search::kPercents) std::printf("%7lld%%", static_cast<long long>(percent));
    std::printf("\n");
    for (const search::Ranking& ranking : rankings) {
      std::printf("%-18s", ranking.proxy.c_str());
      for (const double value : ranking.*values) {
        std::isfinite(value) ? std::printf("%8.4f", value) : std::printf("%8s", "-");
      }
      std::printf("\n");
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
