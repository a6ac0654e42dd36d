#include "heed/search/frontier_measurer.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "heed/search/baselines.h"
#include "heed/search/picks.h"

namespace heed::search {
namespace {

constexpr int kMoreTries = 6;  // to come near a limit from below, one model each

class Measurer {
 public:
  Measurer(const MeasuringTools& tools, const std::vector<Evaluated>& frontier, SearchResult& result)
      : tools_(tools), frontier_(frontier), result_(result) {}

  void run() {
    std::vector<Point> points;
    for (const Evaluated& e : frontier_) points.push_back(point_of(e));
    std::set<size_t> chosen;
    for (const size_t i : spread(points, static_cast<size_t>(tools_.request.keep))) chosen.insert(i);
    if (tools_.request.baselines) {
      for (const Baseline& baseline : baselines(space()))
        result_.baselines.push_back(rival_of(baseline, chosen));
    }
    std::vector<size_t> order(chosen.begin(), chosen.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return points[a].latency < points[b].latency; });
    measure_chosen(order, true);
    for (int tries = 1; tries <= kMoreTries && !result_.dropped.empty(); ++tries) {
      const auto better = better_than_kept(chosen, tries);
      if (!better) break;
      chosen.insert(*better);
      measure_chosen({*better}, false);
    }
    std::stable_sort(result_.models.begin(), result_.models.end(),
                     [](const auto& a, const auto& b) { return a.measured.median < b.measured.median; });
    if (result_.models.empty()) return;
    set_dominated_aside();
    recommend();
  }

 private:
  const spec::Space& space() const { return tools_.request.space; }

  // Whole models, interleaved. Rounds that are already done are taken from the records.
  void measure_models(const std::vector<FoundModel*>& models) {
    const auto time_one = [&](size_t i, int64_t round) {
      tools_.observer.check_stop();
      const std::string key = measure::piece_key(models[i]->model, space().length);
      auto measurement = tools_.records.measurement(key, round);
      if (!measurement) {
        measurement = measure::time_whole(tools_.yardstick, models[i]->model, space().length);
        tools_.folder.check_in_place();
        tools_.records.save(key, round, *measurement);
      }
      models[i]->resident = std::max(models[i]->resident, measurement->bytes);
      return measurement->timing;
    };
    const auto timings = measure::time_interleaved(
        models.size(), time_one, [&](size_t done, size_t all) { tools_.observer.measuring(done, all); },
        tools_.costs.reference());
    for (size_t i = 0; i < models.size(); ++i) models[i]->measured = timings[i];
  }

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
    model.predicted.score = tools_.sample.score(
        proxies().find(tools_.request.proxy),
        baseline_recipe(space(), frontier_, baseline.name, baseline.model), space().length);
    model.planned =
        graph::plan(*measure::build_timed(baseline.model, model::prompt_form(space().length))).memory.peak();
    size_t rival = frontier_.size();
    for (size_t i = 0; i < frontier_.size(); ++i) {
      if (frontier_[i].score >= model.predicted.score &&
          (rival == frontier_.size() || frontier_[i].cost.latency < frontier_[rival].cost.latency))
        rival = i;
    }
    if (rival < frontier_.size()) chosen.insert(rival);
    return model;
  }

  // With the baselines, the first time. Models that exceed a limit are dropped.
  void measure_chosen(const std::vector<size_t>& order, bool first) {
    std::vector<FoundModel> models;
    for (const size_t i : order) {
      char name[16];
      std::snprintf(name, sizeof name, "m%02zu", ++named_);
      models.push_back(found(name, frontier_[i]));
    }
    std::vector<FoundModel*> all;
    const auto add = [&](FoundModel& model, ModelRole role) {
      tools_.records.save(measure::piece_key(model.model, space().length), model, role);
      all.push_back(&model);
    };
    for (FoundModel& model : models) add(model, ModelRole::kModel);
    for (FoundModel& model : result_.baselines) {
      if (first) add(model, ModelRole::kBaseline);
    }
    measure_models(all);
    for (FoundModel& model : models) {
      const bool kept = model.measured.median <= tools_.request.limits.latency &&
                        model.planned <= tools_.request.limits.memory;
      (kept ? result_.models : result_.dropped).push_back(std::move(model));
    }
  }

  // The best model that should fit, by how far whole models are from their predictions, with a little more
  // margin in every try: those dropped may have left a gap between the best one kept and the limits.
  std::optional<size_t> better_than_kept(const std::set<size_t>& measured, int tries) const {
    std::vector<double> slower, larger;
    for (const auto* models : {&result_.models, &result_.dropped}) {
      for (const FoundModel& m : *models) {
        slower.push_back(m.measured.median / m.predicted.cost.latency);
        larger.push_back(static_cast<double>(m.planned) / static_cast<double>(m.predicted.cost.memory()));
      }
    }
    const double room = 1 + 0.03 * tries;
    const double most_latency = tools_.request.limits.latency / (room * measure::percentile(slower, 0.5)),
                 most_memory = static_cast<double>(tools_.request.limits.memory) /
                               (room * measure::percentile(larger, 0.5));
    double best = -INFINITY;
    for (const FoundModel& m : result_.models) best = std::max(best, m.predicted.score);
    std::optional<size_t> better;
    for (size_t i = 0; i < frontier_.size(); ++i) {
      const Evaluated& e = frontier_[i];
      if (measured.contains(i) || e.score <= best || e.cost.latency > most_latency ||
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
      points.push_back({m.predicted.score, m.measured.median, static_cast<double>(m.planned)});
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
    for (const auto& [place, name] : {std::pair{picks.best, "best"},
                                      {picks.knee, "knee"},
                                      {picks.cheap, "cheapest within 1% of the best"}})
      result_.models[place].picks.emplace_back(name);
  }

  MeasuringTools tools_;
  const std::vector<Evaluated>& frontier_;
  SearchResult& result_;
  size_t named_ = 0;
};

}  // namespace

void measure_frontier(const MeasuringTools& tools, const std::vector<Evaluated>& frontier,
                      SearchResult& result) {
  Measurer(tools, frontier, result).run();
}

}  // namespace heed::search
