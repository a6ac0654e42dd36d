#include <algorithm>
#include <cmath>

#include "heed/model/model.h"
#include "heed/report/views.h"
#include "heed/spec/recipe.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"
#include "heed/train/run.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPoints = 2000;

// Numbers of lines that tell of a step, as lists. The loss is the mean of those left out before a point.
Json series_of(const std::vector<Json>& lines) {
  Json series = Json::object();
  for (const char* name : {"step", "loss", "norm", "rate", "tokens", "seconds", "tokens_per_second"})
    series[name] = Json::array();
  size_t first = 0;
  for (const size_t at : thinned(lines.size(), kPoints)) {
    double sum = 0;
    for (size_t i = first; i <= at; ++i) sum += lines[i].at("loss").get<double>();
    for (auto& [name, list] : series.items()) list.push_back(lines[at].at(name));
    series["loss"].back() = sum / static_cast<double>(at - first + 1);
    first = at + 1;
  }
  return series;
}

Json valid_of(const std::vector<Json>& lines, const std::vector<int64_t>& tokens) {
  Json valid = Json::object();
  for (const char* name : {"step", "loss", "tokens", "seconds", "best"}) valid[name] = Json::array();
  for (size_t i = 0; i < lines.size(); ++i) {
    valid["step"].push_back(lines[i].at("step"));
    valid["loss"].push_back(lines[i].at("valid").at("loss"));
    valid["tokens"].push_back(tokens[i]);
    valid["seconds"].push_back(lines[i].at("seconds"));
    valid["best"].push_back(lines[i].at("valid").at("best"));
  }
  return valid;
}

RunView read(const fs::path& run) {
  RunView view;
  const spec::Recipe recipe =
      spec::read_recipe(store::read_json_object(run / "config.json"), (run / "config.json").string());
  const std::string unit = train::counts_bits(recipe.data) ? "bpc" : "ppl";
  view.json = {{"about", recipe.about},
               {"arch", recipe.model.arch},
               {"model", to_json(recipe.model)},
               {"parameters", model::count_parameters(recipe.model).total},
               {"unit", unit},
               {"steps", recipe.training.steps},
               {"text", ""},
               {"series", series_of({})},
               {"valid", valid_of({}, {})},
               {"samples", Json::array()}};
  view.try_to([&] { view.json["text"] = store::read_json_object(run / "run.json").at("data").at("path"); });
  std::vector<Json> steps, valid;
  std::vector<int64_t> tokens;
  view.try_to([&] {
    store::for_each_line(run / "metrics.jsonl", [&](Json line) {
      if (line.contains("valid")) {
        tokens.push_back(steps.empty() ? 0 : steps.back().at("tokens").get<int64_t>());
        valid.push_back(std::move(line));
      } else {
        steps.push_back(std::move(line));
      }
      return true;
    });
  });
  view.try_to([&] { view.json["series"] = series_of(steps); });
  view.try_to([&] { view.json["valid"] = valid_of(valid, tokens); });
  if (fs::exists(run / "samples.jsonl"))
    view.try_to([&] {
      store::for_each_line(run / "samples.jsonl", [&](const Json& line) {
        view.json["samples"].push_back({{"step", line.at("step")}, {"text", line.at("text")}});
        return true;
      });
    });
  int64_t made = 0;
  if (!steps.empty()) view.try_to([&] { made = steps.back().at("step").get<int64_t>(); });
  view.json["state"] =
      made == 0 && !store::is_in_use(run) ? "empty" : state_of(run, made == recipe.training.steps);
  return view;
}

}  // namespace

View training_view() {
  return {"training", [](const fs::path& run) { return fs::exists(run / "config.json"); }, read};
}

}  // namespace heed::report
