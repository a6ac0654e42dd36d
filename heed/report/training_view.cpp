#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/model/model.h"
#include "heed/report/views.h"
#include "heed/spec/recipe.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"
#include "heed/train/run.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPoints = 2000, kEvaluations = 1000, kSamples = 200;  // shown, approximately

struct Step {
  static constexpr const char* kNames[] = {
      "step", "loss", "norm", "rate", "tokens", "seconds", "tokens_per_second"};
  static constexpr bool kDrawn[] = {false, true, true, true, false, false, true};  // upwards
  double values[std::size(kNames)];  // in the order of the names
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

// metrics.jsonl, read so far.
class Metrics {
 public:
  explicit Metrics(const fs::path& file) : file_(file), log_(file) {}

  // Lines without a step or a loss are left out and reported once.
  void read_on() {
    log_.read_on([this](const Json& line) { add(line); },
                 [this] {
                   steps_.clear(), evaluations_.clear();
                   lines_ = first_bad_ = bad_ = 0;
                 });
    if (bad_ > 0)
      throw damaged_error(file_.string(), ": line ", first_bad_,
                          bad_ > 1 ? text(" and ", bad_ - 1, " more") : "",
                          " without a number for step or loss; left out");
  }

  double steps_made() const { return steps_.empty() ? 0 : steps_.back().values[0]; }

  // Lists of one value per step that is shown, and how many there are to show.
  Json series() const {
    Json series = Json::object();
    for (const char* name : Step::kNames) series[name] = Json::array();
    std::vector<std::function<double(size_t)>> drawn;
    for (size_t i = 0; i < std::size(Step::kNames); ++i) {
      if (Step::kDrawn[i]) drawn.emplace_back([this, i](size_t at) { return steps_[at].values[i]; });
    }
    for (const size_t at : outline(steps_.size(), kPoints, drawn)) {
      for (size_t i = 0; i < std::size(Step::kNames); ++i)
        series[Step::kNames[i]].push_back(number(steps_[at].values[i]));
    }
    series["recorded"] = steps_.size();
    return series;
  }

  Json valid() const {
    Json valid = Json::object();
    for (const char* name : {"step", "loss", "tokens", "seconds", "best"}) valid[name] = Json::array();
    for (const size_t at : outline(evaluations_.size(), kEvaluations,
                                   {[this](size_t place) { return evaluations_[place].loss; }})) {
      const Evaluation& e = evaluations_[at];
      valid["step"].push_back(e.step), valid["loss"].push_back(e.loss), valid["tokens"].push_back(e.tokens);
      valid["seconds"].push_back(number(e.seconds)), valid["best"].push_back(e.best);
    }
    valid["recorded"] = evaluations_.size();
    return valid;
  }

 private:
  void add(const Json& line) {
    ++lines_;
    const double step = number_in(line, "step");
    const bool evaluated = line.contains("valid") && line["valid"].is_object();
    const double loss = number_in(evaluated ? line["valid"] : line, "loss");
    if (!std::isfinite(step) || !std::isfinite(loss)) {
      if (bad_++ == 0) first_bad_ = lines_;
      return;
    }
    if (evaluated) {
      const Json best = line["valid"].value("best", Json());
      evaluations_.push_back({step, loss, steps_.empty() ? 0 : steps_.back().tokens(),
                              number_in(line, "seconds"), best.is_boolean() && best.get<bool>()});
    } else {
      steps_.emplace_back();
      for (size_t i = 0; i < std::size(Step::kNames); ++i)
        steps_.back().values[i] = number_in(line, Step::kNames[i]);
    }
  }

  fs::path file_;
  store::LineReader log_;
  std::vector<Step> steps_;
  std::vector<Evaluation> evaluations_;
  int64_t lines_ = 0, first_bad_ = 0, bad_ = 0;
};

// samples.jsonl, read so far.
class Samples {
 public:
  explicit Samples(const fs::path& file) : log_(file) {}

  void read_on() {
    log_.read_on(
        [this](const Json& line) {
          samples_.push_back(
              {{"step", line.at("step").get<int64_t>()}, {"text", line.at("text").get<std::string>()}});
        },
        [this] { samples_.clear(); });
  }

  Json shown() const {
    Json shown = Json::array();
    for (const size_t at : thinned(samples_.size(), kSamples)) shown.push_back(samples_[at]);
    return shown;
  }
  size_t recorded() const { return samples_.size(); }

 private:
  store::LineReader log_;
  std::vector<Json> samples_;
};

struct Logs {
  explicit Logs(const fs::path& run) : metrics(run / "metrics.jsonl"), samples(run / "samples.jsonl") {}
  Metrics metrics;
  Samples samples;
};

RunView read(const fs::path& run, Logs& logs) {
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
               {"text", ""}};
  view.try_to([&] { view.json["text"] = store::read_json_object(run / "run.json").at("data").at("path"); });
  view.try_to([&] { logs.metrics.read_on(); });
  view.json["series"] = logs.metrics.series();
  view.json["valid"] = logs.metrics.valid();
  if (fs::exists(run / "samples.jsonl") || logs.samples.recorded() > 0)
    view.try_to([&] { logs.samples.read_on(); });
  view.json["samples"] = logs.samples.shown();
  view.json["samples_recorded"] = logs.samples.recorded();
  const double made = logs.metrics.steps_made();
  view.json["state"] = made == 0 && !store::is_in_use(run)
                           ? "empty"
                           : state_of(run, made == static_cast<double>(recipe.training.steps));
  return view;
}

}  // namespace

View training_view() {
  return {"training", store::RunKind::kTrain, []() -> Reading {
            return [logs = std::optional<Logs>()](const fs::path& run) mutable {
              if (!logs) logs.emplace(run);
              return read(run, *logs);
            };
          }};
}

}  // namespace heed::report
