#include <algorithm>
#include <cmath>
#include <map>

#include "heed/report/views.h"
#include "heed/search/supernet/supernet_run.h"
#include "heed/spec/arch.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"
#include "heed/train/run.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMoments = 200, kPoints = 1000;

// A file of a seed, read so far.
struct Log {
  explicit Log(const fs::path& file) : reader(file) {}
  void read_on() {
    reader.read_on([this](Json line) { lines.push_back(std::move(line)); }, [this] { lines.clear(); });
  }
  store::LineReader reader;
  std::vector<Json> lines;
};

struct SeedLogs {
  explicit SeedLogs(const fs::path& folder)
      : theta(folder / "theta.jsonl"), metrics(folder / "metrics.jsonl") {}
  Log theta, metrics;
};
using Logs = std::map<fs::path, SeedLogs>;  // by folder

Json course_of(const std::vector<Json>& lines, const search::SupernetSettings& settings) {
  Json course = Json::object();
  for (const char* name : {"step", "temperature", "by_layer", "probabilities"}) course[name] = Json::array();
  for (const size_t at : thinned(lines.size(), kMoments)) {
    const auto layers = lines[at].at("probabilities").get<std::vector<std::vector<double>>>();
    if (static_cast<int64_t>(layers.size()) != settings.layers ||
        lines[at].at("by_layer").get<std::string>().size() != layers.size() ||
        std::ranges::any_of(layers, [&](const auto& l) { return l.size() != settings.letters.size(); }))
      throw damaged_error("theta.jsonl: iteration ", lines[at].at("step").dump(), " is of another supernet");
    for (auto& [name, list] : course.items()) list.push_back(lines[at].at(name));
  }
  return course;
}

Json losses_of(const std::vector<Json>& lines) {
  Json losses = {{"step", Json::array()}, {"loss", Json::array()}};
  const auto loss = [&](size_t at) {
    const Json& value = lines[at].at("loss");
    return value.is_number() ? value.get<double>() : NAN;
  };
  for (const size_t at : outline(lines.size(), kPoints, {loss})) {
    losses["step"].push_back(lines[at].at("step"));
    losses["loss"].push_back(lines[at].at("loss"));
  }
  return losses;
}

Json read_seed(const fs::path& folder, int64_t number, const search::SupernetSettings& settings,
               SeedLogs& logs, RunView& view) {
  Json seed = {{"seed", number}, {"done", false},  {"converged", false},     {"loss", Json()},
               {"arch", ""},     {"by_layer", ""}, {"slices", Json::array()}};
  view.try_to([&] { logs.theta.read_on(); });
  view.try_to([&] { logs.metrics.read_on(); });
  seed["course"] = course_of({}, settings);
  seed["losses"] = losses_of({});
  view.try_to([&] { seed["course"] = course_of(logs.theta.lines, settings); });
  view.try_to([&] { seed["losses"] = losses_of(logs.metrics.lines); });
  if (!seed["losses"]["loss"].empty()) seed["loss"] = seed["losses"]["loss"].back();
  if (!seed["course"]["by_layer"].empty()) seed["by_layer"] = seed["course"]["by_layer"].back();
  if (search::SeedResult::is_in(folder))
    view.try_to([&] {
      const search::SeedResult result = search::SeedResult::read(folder, settings);
      seed["done"] = true;
      seed["converged"] = result.converged;
      seed["loss"] = result.loss;
      seed["by_layer"] = result.choice.by_layer();
    });
  const std::string by_layer = seed["by_layer"];
  const std::string found = spec::without_identity(by_layer);
  seed["arch"] = found.empty() ? "" : spec::format_arch(found);
  if (!by_layer.empty()) seed["slices"] = search::slices_json(by_layer, settings.letters);
  return seed;
}

// Over the seeds that have a string.
Json spreads_of(const Json& seeds, const std::string& letters) {
  Json spreads = Json::object();
  for (const char letter : letters) {
    const std::string name(1, letter);
    spreads[name] = Json::array();
    for (size_t third = 0; third < 3; ++third) {
      std::vector<double> counts;
      for (const Json& seed : seeds) {
        if (!seed["slices"].empty()) counts.push_back(seed["slices"][third][name].get<double>());
      }
      if (counts.empty()) continue;
      const search::Spread spread = search::spread_of(counts);
      spreads[name].push_back({{"mean", spread.mean}, {"deviation", spread.deviation}});
    }
  }
  return spreads;
}

RunView read(const fs::path& run, Logs& logs) {
  RunView view;
  const Json config = store::read_json_object(run / "config.json");
  const spec::Recipe recipe = spec::read_recipe(config.at("recipe"), (run / "config.json").string());
  const auto settings = from_json<search::SupernetSettings>(store::read_json_object(run / "settings.json"),
                                                            (run / "settings.json").string());
  validate(settings);
  Json seeds = Json::array();
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("seed-") || !entry.is_directory()) continue;
    view.try_to([&] {
      SeedLogs& of_seed = logs.try_emplace(entry.path(), entry.path()).first->second;
      seeds.push_back(read_seed(entry.path(), std::stoll(name.substr(5)), settings, of_seed, view));
    });
  }
  std::sort(seeds.begin(), seeds.end(), [](const Json& a, const Json& b) { return a["seed"] < b["seed"]; });
  const bool done = std::ranges::all_of(seeds, [](const Json& seed) { return seed["done"].get<bool>(); });
  view.json = {{"letters", settings.letters},
               {"layers", settings.layers},
               {"steps", settings.steps},
               {"weights_only", settings.weights_only},
               {"unit", train::counts_bits(recipe.data) ? "bpc" : "ppl"},
               {"seeds", seeds},
               {"slices", spreads_of(seeds, settings.letters)},
               {"state", seeds.empty() && !store::is_in_use(run) ? "empty" : state_of(run, done)}};
  return view;
}

}  // namespace

View supernet_view() {
  return {"supernet", store::RunKind::kSupernet, []() -> Reading {
            return [logs = Logs()](const fs::path& run) mutable { return read(run, logs); };
          }};
}

}  // namespace heed::report
