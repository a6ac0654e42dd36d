#include "heed/search/frontier_measurer.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "heed/measure/loading.h"
#include "heed/search/baselines.h"
#include "heed/search/picks.h"

namespace heed::search {
namespace {

constexpr int kMoreTries = 6;  // to come near a limit from below, one model each

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
    model.planned =
        graph::plan(*measure::build_timed(baseline.model, model::prompt_form(space().length))).memory.peak();
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
    for (FoundModel& model : models) {
      const Limits& limits = tools_.request.limits;
      const bool kept = model.measured.median <= limits.latency &&
                        model.measured_step.median <= limits.step &&
                        model.first_token().median <= limits.first_token && model.planned <= limits.memory;
      (kept ? result_.models : result_.dropped).push_back(std::move(model));
    }
  }

  // The best model that should fit, by how far whole models are from their predictions, with a little more
  // margin in every try: those dropped may have left a gap between the best one kept and the limits.
  std::optional<size_t> better_than_kept(const std::set<size_t>& measured, int tries) const {
    std::vector<double> slower, slower_steps, slower_starts, larger;
    for (const auto* models : {&result_.models, &result_.dropped}) {
      for (const FoundModel& m : *models) {
        slower.push_back(m.measured.median / m.predicted.cost.latency);
        slower_steps.push_back(m.measured_step.median / m.predicted.cost.step);
        slower_starts.push_back(m.first_token().median / m.predicted.cost.first_token());
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
};

}  // namespace

void measure_whole(const MeasuringTools& tools, const std::vector<FoundModel*>& models) {
  const int64_t length = tools.request.space.length;
  // Every model at a prompt, then every model at a step, then every model while it is loaded.
  const auto time_one = [&](size_t i, int64_t round) {
    tools.observer.check_stop();
    FoundModel& model = *models[i % models.size()];
    const size_t kind = i / models.size();
    const measure::Work work{length, kind == 1};
    const std::string key = text(kind == 2 ? "load " : "", measure::piece_key(model.model, work));
    auto measurement = tools.records.measurement(key, round);
    if (!measurement) {
      measurement = kind == 2
                        ? measure::WholeTiming{measure::time_loading(tools.yardstick, model.model, length), 0}
                        : measure::time_whole(tools.yardstick, model.model, work);
      tools.folder.check_in_place();
      tools.records.save(key, round, *measurement);
    }
    model.resident = std::max(model.resident, measurement->bytes);
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
