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

struct Step {
  static constexpr const char* kNames[] = {
      "step", "loss", "norm", "rate", "tokens", "seconds", "tokens_per_second"};
  double values[std::size(kNames)];  // in the order of the names
  double loss() const { return values[1]; }
  double tokens() const { return values[4]; }
};

struct Evaluation {
  double step, loss, tokens, seconds;
  bool best;
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

double number_in(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_number() ? found->get<double>() : NAN;
}

// As lists. The loss is the mean of those left out before a point.
Json series_of(const std::vector<Step>& steps) {
  Json series = Json::object();
  for (const char* name : Step::kNames) series[name] = Json::array();
  size_t first = 0;
  for (const size_t at : thinned(steps.size(), kPoints)) {
    double sum = 0;
    for (size_t i = first; i <= at; ++i) sum += steps[i].loss();
    for (size_t i = 0; i < std::size(Step::kNames); ++i)
      series[Step::kNames[i]].push_back(number(steps[at].values[i]));
    series["loss"].back() = number(sum / static_cast<double>(at - first + 1));
    first = at + 1;
  }
  return series;
}

Json valid_of(const std::vector<Evaluation>& evaluations) {
  Json valid = Json::object();
  for (const char* name : {"step", "loss", "tokens", "seconds", "best"}) valid[name] = Json::array();
  for (const Evaluation& e : evaluations) {
    valid["step"].push_back(e.step), valid["loss"].push_back(e.loss), valid["tokens"].push_back(e.tokens);
    valid["seconds"].push_back(number(e.seconds)), valid["best"].push_back(e.best);
  }
  return valid;
}

// Lines that lack a step or a loss are left out, and that is told once.
void read_metrics(const fs::path& file, std::vector<Step>& steps, std::vector<Evaluation>& evaluations) {
  int64_t number_of_line = 0, first_bad = 0, bad = 0;
  store::for_each_line(file, [&](const Json& line) {
    ++number_of_line;
    const double step = number_in(line, "step");
    const bool evaluated = line.contains("valid") && line["valid"].is_object();
    const double loss = number_in(evaluated ? line["valid"] : line, "loss");
    if (!std::isfinite(step) || !std::isfinite(loss)) {
      if (bad++ == 0) first_bad = number_of_line;
      return true;
    }
    if (evaluated) {
      const Json best = line["valid"].value("best", Json());
      evaluations.push_back({step, loss, steps.empty() ? 0 : steps.back().tokens(),
                             number_in(line, "seconds"), best.is_boolean() && best.get<bool>()});
    } else {
      steps.emplace_back();
      for (size_t i = 0; i < std::size(Step::kNames); ++i)
        steps.back().values[i] = number_in(line, Step::kNames[i]);
    }
    return true;
  });
  if (bad > 0)
    throw failure(file.string(), ": line ", first_bad, bad > 1 ? text(" and ", bad - 1, " more") : "",
                  " without a number for step or loss; left out");
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
               {"samples", Json::array()}};
  view.try_to([&] { view.json["text"] = store::read_json_object(run / "run.json").at("data").at("path"); });
  std::vector<Step> steps;
  std::vector<Evaluation> evaluations;
  view.try_to([&] { read_metrics(run / "metrics.jsonl", steps, evaluations); });
  view.json["series"] = series_of(steps);
  view.json["valid"] = valid_of(evaluations);
  if (fs::exists(run / "samples.jsonl"))
    view.try_to([&] {
      store::for_each_line(run / "samples.jsonl", [&](const Json& line) {
        view.json["samples"].push_back(
            {{"step", line.at("step").get<int64_t>()}, {"text", line.at("text").get<std::string>()}});
        return true;
      });
    });
  const double made = steps.empty() ? 0 : steps.back().values[0];
  view.json["state"] = made == 0 && !store::is_in_use(run)
                           ? "empty"
                           : state_of(run, made == static_cast<double>(recipe.training.steps));
  return view;
}

}  // namespace

View training_view() {
  return {"training", [](const fs::path& run) { return fs::exists(run / "config.json"); }, read};
}

}  // namespace heed::report
