#include "heed/search/frontier_measurer.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "heed/base/clock.h"
#include "heed/base/units.h"
#include "heed/measure/loading.h"
#include "heed/search/baselines.h"
#include "heed/search/picks.h"

namespace heed::search {
namespace {

constexpr int kMoreTries = 6;  // to come near a limit from below, one model each
// A model that is so much further from its prediction than the others was disturbed, if only by chance.
constexpr double kSuspicious = 1.25;
constexpr int kMoreAttempts = 2;  // to measure it
// If models take so many times what their pieces took, the machine is doing something else.
constexpr double kBusy = 1.6;
constexpr double kQuiet = 0.3;    // cores that others use
constexpr double kPatience = 30;  // seconds to wait for that

class Measurer {
 public:
  Measurer(const MeasuringTools& tools, const std::vector<Evaluated>& frontier,
           const std::vector<Evaluated>& others, SearchResult& result)
      : tools_(tools), frontier_(frontier), others_(others), result_(result) {}

  void run() {
    std::vector<Point> points;
    for (const Evaluated& e : frontier_) points.push_back(point_of(e, objective()));
    std::set<size_t> chosen;
    for (const size_t i : spread(points, static_cast<size_t>(tools_.request.keep))) chosen.insert(i);
    if (tools_.request.baselines) {
      for (const Baseline& baseline : baselines(space()))
        result_.baselines.push_back(rival_of(baseline, chosen));
    }
    std::vector<Evaluated> first;
    for (const size_t i : chosen) first.push_back(frontier_[i]);
    for (const Evaluated& other : others_) {
      const bool known =
          std::ranges::any_of(first, [&](const Evaluated& e) { return e.candidate == other.candidate; });
      if (!known) first.push_back(other);
    }
    std::ranges::stable_sort(first, {}, [&](const Evaluated& e) { return time_of(e.cost, objective()); });
    measure_chosen(first, true);
    for (int tries = 1; tries <= kMoreTries && !result_.dropped.empty(); ++tries) {
      const auto better = better_than_kept(chosen, tries);
      if (!better) break;
      chosen.insert(*better);
      measure_chosen({frontier_[*better]}, false);
    }
    std::ranges::stable_sort(result_.models, {},
                             [&](const FoundModel& m) { return m.time(objective()).median; });
    if (result_.models.empty()) return;
    set_dominated_aside();
    recommend();
  }

 private:
  const spec::Space& space() const { return tools_.request.space; }
  Objective objective() const { return tools_.request.objective; }

  FoundModel found(std::string name, const Evaluated& e) const {
    FoundModel model{std::move(name), e, space().model_of(e.candidate), 0, {}, 0, {}};
    model.planned = tools_.costs.planned(e.candidate).memory();
    return model;
  }

  // A baseline, and which model of the frontier is as good and fastest.
  FoundModel rival_of(const Baseline& baseline, std::set<size_t>& chosen) {
    FoundModel model{baseline.name, {}, baseline.model, 0, {}, 0, {}};
    const model::ParameterCount count = model::count_parameters(baseline.model);
    model.predicted.cost.decoder = count.decoder, model.predicted.cost.total = count.total;
    model.predicted.score =
        tools_.valuation
            ? tools_.valuation->score(baseline.model)
            : tools_.sample.score(proxies().find(tools_.request.proxy),
                                  baseline_recipe(space(), baseline.name, baseline.model), space().length);
    model.planned = tools_.costs.planned(baseline.model).memory();
    size_t rival = frontier_.size();
    for (size_t i = 0; i < frontier_.size(); ++i) {
      if (frontier_[i].score >= model.predicted.score &&
          (rival == frontier_.size() ||
           time_of(frontier_[i].cost, objective()) < time_of(frontier_[rival].cost, objective())))
        rival = i;
    }
    if (rival < frontier_.size()) chosen.insert(rival);
    return model;
  }

  // With the baselines, the first time. Models that exceed a limit are dropped.
  void measure_chosen(const std::vector<Evaluated>& chosen, bool first) {
    std::vector<FoundModel> models;
    for (const Evaluated& e : chosen) {
      char name[16];
      std::snprintf(name, sizeof name, "m%02zu", ++named_);
      models.push_back(found(name, e));
    }
    std::vector<FoundModel*> all;
    const auto add = [&](FoundModel& model, ModelRole role) {
      tools_.records.save(measure::piece_key(model.model, {space().length}), model, role);
      all.push_back(&model);
    };
    for (FoundModel& model : models) add(model, ModelRole::kModel);
    for (FoundModel& model : result_.baselines) {
      if (first) add(model, ModelRole::kBaseline);
    }
    measure_whole(tools_, all);
    measure_suspicious(all);
    if (exceeds_time(models) && median_ratio(all) > kBusy) {
      wait_until_quiet(median_ratio(all));
      measure_again(all);
      if (exceeds_time(models) && median_ratio(all) > kBusy) throw busy(median_ratio(all));
    }
    for (FoundModel& model : models)
      (fits(model) ? result_.models : result_.dropped).push_back(std::move(model));
  }

  bool fits_time(const FoundModel& model) const {
    const Limits& limits = tools_.request.limits;
    return model.measured.held() <= limits.latency && model.measured_step.held() <= limits.step &&
           model.first_token().held() <= limits.first_token;
  }
  bool fits(const FoundModel& model) const {
    return fits_time(model) && model.planned <= tools_.request.limits.memory;
  }
  bool exceeds_time(const std::vector<FoundModel>& models) const {
    return !std::ranges::all_of(models, [&](const FoundModel& model) { return fits_time(model); });
  }

  // Of measured to predicted times, the larger one of prompt and step; 0 without a prediction.
  static double ratio_of(const FoundModel& model) {
    const Cost& cost = model.predicted.cost;
    if (!(cost.latency > 0) || !(cost.step > 0)) return 0;
    return std::max(model.measured.median / cost.latency, model.measured_step.median / cost.step);
  }
  static double median_ratio(const std::vector<FoundModel*>& models) {
    std::vector<double> ratios;
    for (const FoundModel* model : models) {
      if (const double ratio = ratio_of(*model); ratio > 0) ratios.push_back(ratio);
    }
    // Of two the lower one: a single model that is slow is disturbed, not the machine.
    return measure::percentile(ratios, ratios.size() == 2 ? 0 : 0.5);
  }

  // One noisy timing does not drop a model.
  void measure_suspicious(const std::vector<FoundModel*>& models) {
    for (int attempt = 0; attempt < kMoreAttempts; ++attempt) {
      const double usual = median_ratio(models);
      std::vector<FoundModel*> suspicious;
      for (FoundModel* model : models) {
        if (ratio_of(*model) > kSuspicious * usual && !fits_time(*model)) suspicious.push_back(model);
      }
      if (suspicious.empty()) return;
      measure_again(suspicious);
    }
  }

  // Disturbances only make a model slower: the faster timing holds.
  void measure_again(const std::vector<FoundModel*>& models) {
    std::vector<FoundModel> before;
    for (const FoundModel* model : models) before.push_back(*model);
    measure_whole(tools_, models, ++attempt_);
    for (size_t i = 0; i < models.size(); ++i) {
      for (auto timing : {&FoundModel::measured, &FoundModel::measured_step, &FoundModel::measured_load}) {
        if ((before[i].*timing).median < (models[i]->*timing).median)
          (models[i]->*timing) = (before[i].*timing);
      }
    }
  }

  void wait_until_quiet(double ratio) const {
    tools_.observer.note(text("models take ", rounded(ratio),
                              " times what was predicted: the machine is busy; ", "waiting up to ",
                              format_seconds(kPatience), " before they are measured again"));
    const double begin = now_seconds();
    while (measure::load_of_others() > kQuiet && now_seconds() - begin < kPatience)
      tools_.observer.check_stop();
  }

  static Error busy(double ratio) {
    return system_error(
        "search: models take ", rounded(ratio), " times what was predicted, so those that fit are ",
        "much smaller than need be, and none is recommended. If the machine is busy, run the ",
        "same command with --measure-again when it is quiet; if it has changed, make a new ",
        "profile with --profile FILE and search in another folder");
  }
  static std::string rounded(double ratio) { return text(std::round(10 * ratio) / 10); }

  // The best model that should fit, by how far whole models are from their predictions, with a little more
  // margin in every try: those dropped may have left a gap between the best one kept and the limits.
  std::optional<size_t> better_than_kept(const std::set<size_t>& measured, int tries) const {
    std::vector<double> slower, slower_steps, slower_starts, larger;
    for (const auto* models : {&result_.models, &result_.dropped}) {
      for (const FoundModel& m : *models) {
        slower.push_back(m.measured.held() / m.predicted.cost.latency);
        slower_steps.push_back(m.measured_step.held() / m.predicted.cost.step);
        slower_starts.push_back(m.first_token().held() / m.predicted.cost.first_token());
        larger.push_back(static_cast<double>(m.planned) / static_cast<double>(m.predicted.cost.memory()));
      }
    }
    const double room = 1 + 0.03 * tries;
    const double most_latency = tools_.request.limits.latency / (room * measure::percentile(slower, 0.5)),
                 most_step = tools_.request.limits.step / (room * measure::percentile(slower_steps, 0.5)),
                 most_first_token =
                     tools_.request.limits.first_token / (room * measure::percentile(slower_starts, 0.5)),
                 most_memory = static_cast<double>(tools_.request.limits.memory) /
                               (room * measure::percentile(larger, 0.5));
    double best = -INFINITY;
    for (const FoundModel& m : result_.models) best = std::max(best, m.predicted.score);
    std::optional<size_t> better;
    for (size_t i = 0; i < frontier_.size(); ++i) {
      const Evaluated& e = frontier_[i];
      if (measured.contains(i) || e.score <= best || e.cost.latency > most_latency ||
          e.cost.step > most_step || e.cost.first_token() > most_first_token ||
          static_cast<double>(e.cost.memory()) > most_memory)
        continue;
      better = i;
      best = e.score;
    }
    return better;
  }

  std::vector<Point> measured_points() const {
    std::vector<Point> points;
    for (const FoundModel& m : result_.models)
      points.push_back({m.predicted.score, m.time(objective()).median, static_cast<double>(m.planned)});
    return points;
  }

  void set_dominated_aside() {
    std::set<size_t> best;
    for (const size_t i : front(measured_points())) best.insert(i);
    std::vector<FoundModel> models;
    for (size_t i = 0; i < result_.models.size(); ++i)
      (best.contains(i) ? models : result_.dominated).push_back(std::move(result_.models[i]));
    result_.models = std::move(models);
  }

  void recommend() {
    const Picks picks = pick(measured_points());
    for (const auto& [place, name] : {std::pair{picks.best, kRecommended},
                                      {picks.knee, "knee"},
                                      {picks.cheap, "cheapest within 1% of the best"}})
      result_.models[place].picks.emplace_back(name);
  }

  MeasuringTools tools_;
  const std::vector<Evaluated>&frontier_, &others_;
  SearchResult& result_;
  size_t named_ = 0;
  int attempt_ = 0;  // of measuring, over all models
};

}  // namespace

void measure_whole(const MeasuringTools& tools, const std::vector<FoundModel*>& models, int attempt) {
  const int64_t length = tools.request.space.length;
  const int64_t first_round =
      tools.records.first_round() + attempt * static_cast<int64_t>(measure::kMostRounds);
  // Every model at a prompt, then every model at a step, then every model while it is loaded.
  const auto time_one = [&](size_t i, int64_t round) {
    tools.observer.check_stop();
    FoundModel& model = *models[i % models.size()];
    const size_t kind = i / models.size();
    const measure::Work work{length, kind == 1};
    const std::string key = text(kind == 2 ? "load " : "", measure::piece_key(model.model, work));
    auto measurement = tools.records.measurement(key, first_round + round);
    if (!measurement) {
      measurement =
          kind == 2 ? measure::measure_loading(tools.yardstick, model.model, tools.costs.serving())
                    : measure::time_whole(tools.yardstick, model.model, work, share_within(tools.request));
      tools.folder.check_in_place();
      tools.records.save(key, first_round + round, *measurement);
    }
    if (kind == 2)
      model.resident =
          std::max(model.resident, tools.costs.beside(model.model.embedding.vocabulary) + measurement->bytes);
    return measurement->timing;
  };
  const auto timings = measure::time_interleaved(
      3 * models.size(), time_one, [&](size_t done, size_t all) { tools.observer.measuring(done, all); },
      tools.costs.reference());
  for (size_t i = 0; i < models.size(); ++i) {
    models[i]->measured = timings[i];
    models[i]->measured_step = timings[i + models.size()];
    models[i]->measured_load = timings[i + 2 * models.size()];
  }
}

void measure_frontier(const MeasuringTools& tools, const std::vector<Evaluated>& frontier,
                      const std::vector<Evaluated>& others, SearchResult& result) {
  Measurer(tools, frontier, others, result).run();
}

}  // namespace heed::search
