#include "heed/search/search_run.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "heed/base/clock.h"
#include "heed/base/units.h"
#include "heed/measure/session_timing.h"
#include "heed/measure/timed_model.h"
#include "heed/search/baselines.h"
#include "heed/search/block_table.h"
#include "heed/search/picks.h"
#include "heed/search/records.h"
#include "heed/search/strategies/exact.h"
#include "heed/spec/arch.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

constexpr int kMoreTries = 6;  // to come near a limit from below, one model each

Json config_of(const SearchRequest& r) {
  Json limits = Json::object();
  if (std::isfinite(r.limits.latency)) limits["latency"] = r.limits.latency;
  if (r.limits.memory != INT64_MAX) limits["memory"] = r.limits.memory;
  if (r.limits.total != INT64_MAX) limits["parameters"] = r.limits.total;
  return {{"space", r.space.name},
          {"space_says", r.space.source},
          {"device", measure::this_device().fingerprint()},
          {"strategy", r.strategy},
          {"proxy", r.proxy},
          {"latency", r.measure_all ? "measured" : "summed"},
          {"keep", r.keep},
          {"baselines", r.baselines},
          {"limits", limits},
          {"sample", heed::to_json(r.sample)},
          {"settings", heed::to_json(r.settings)}};
}

class Search {
 public:
  Search(const SearchRequest& request, SearchObserver& observer)
      : request_(request),
        observer_(observer),
        space_(request_.space),
        proxy_(proxies().find(request.proxy)),
        folder_(request.folder, config_of(request), request.record),
        records_(request.folder),
        sample_(request.sample, request.folder / "cache"),
        database_(request.profile),
        profile_(database_, measure::this_device()),
        costs_(space_, profile_) {}

  SearchResult run() {
    take_back_if_refused([&] { check_request(); });
    double begin = now_seconds();
    const auto lap = [&](double& seconds) {
      seconds = now_seconds() - begin;
      begin = now_seconds();
    };
    const bool profiled = !request_.measure_all || request_.strategy == "exact";
    if (profiled)
      fill_profile(space_, profile_, [&](const ProfileProgress& progress) {
        observer_.profiling(progress);
        check_stop();
      });
    if (!fs::exists(request_.folder / "blocks.json"))
      store::write_json_object(request_.folder / "blocks.json",
                               block_table(space_, profiled ? &profile_ : nullptr));
    lap(result_.seconds_profile);
    take_back_if_refused([&] { evaluate_all(); });
    lap(result_.seconds_search);
    measure_best();
    lap(result_.seconds_measure);
    folder_.check_in_place();
    write_result(request_.folder, space_, frontier_, result_);
    return std::move(result_);
  }

 private:
  // The next try will have other limits, and may have the same folder, unless models were evaluated in it.
  void take_back_if_refused(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      const bool refused = error.code() == kInfeasible || error.code() == kUsage;
      if (refused && records_.evaluated() == 0) folder_.take_back();
      throw;
    }
  }

  // What can be refused is refused before the device is profiled.
  void check_request() {
    if (request_.strategy == "exact" && !proxy_.of_counts)
      throw usage_error("search: exact needs a proxy that sizes tell, such as effective_params; ",
                        proxy_.name, " works with --strategy evolution");
    if (proxy_.name == "partial_training" && request_.sample.data.empty())
      throw usage_error("search: partial_training learns from a text; give one with --data PATH");
    if (!request_.sample.data.empty() && !fs::exists(request_.sample.data))
      throw usage_error("search: --data ", request_.sample.data, " is not there");
    const Limits& l = request_.limits;
    if (!(l.latency > 0) || l.memory < 1 || l.total < 1)
      throw usage_error("search: a limit of 0 or less leaves no model; give positive ones");
  }

  void check_stop() {
    if (observer_.stop()) throw Error("interrupted; the same command goes on", kInterrupted);
  }

  double score(const spec::Frame& frame, int64_t decoder, int64_t total) const {
    if (!proxy_.of_counts) return static_cast<double>(decoder);  // to say what fits, any order will do
    return proxy_.of_counts(decoder, total, frame.width,
                            frame.embedding_width ? frame.embedding_width : frame.width);
  }

  bool inside(const Cost& cost) const {
    return request_.limits.admit(cost) && space_.allows_size(cost.decoder, cost.total);
  }

  Cost cost_of(const spec::Candidate& candidate) {
    if (!request_.measure_all) return costs_.of(candidate);
    Cost cost = costs_.planned(candidate);
    cost.latency = measure::time_whole(space_.model_of(candidate), space_.length).timing.median;
    return cost;
  }

  Evaluated evaluate(const spec::Candidate& candidate) {
    if (const auto known = records_.find(space_.key_of(candidate), candidate)) return *known;
    const Cost cost = cost_of(candidate);
    return {candidate, cost,
            proxy_.of_counts ? score(candidate.frame, cost.decoder, cost.total)
                             : sample_.score(proxy_, space_.recipe_of(candidate), space_.length)};
  }

  void record(const std::vector<Evaluated>& batch) {
    std::vector<std::pair<std::string, Evaluated>> fresh;
    std::vector<std::string> specs;
    for (const Evaluated& e : batch) {
      const std::string key = space_.key_of(e.candidate);
      if (records_.find(key, e.candidate)) continue;
      fresh.emplace_back(key, e);
      specs.push_back(heed::to_json(space_.model_of(e.candidate)).dump());
    }
    folder_.check_in_place();
    records_.save(fresh, specs);
  }

  Question question() {
    return {space_,
            request_.limits,
            request_.settings,
            costs_,
            [this](double share) {
              observer_.searching_share(share);
              check_stop();
            },
            [this](const spec::Frame& frame, int64_t decoder, int64_t total) {
              return score(frame, decoder, total);
            },
            [this](const spec::Candidate& candidate) {
              if (!request_.measure_all) return inside(costs_.of(candidate));
              if (!inside(costs_.planned(candidate))) return false;  // not worth timing
              check_stop();
              // A measurement is dear: it is kept even if the model is not.
              const Evaluated e = evaluate(candidate);
              record({e});
              return inside(e.cost);
            }};
  }

  void evaluate_all() {
    const auto strategy = strategies().find(request_.strategy).make(question());
    for (;;) {
      check_stop();
      std::vector<Evaluated> batch;
      for (const spec::Candidate& candidate : strategy->propose()) {
        batch.push_back(evaluate(candidate));
        // What is dear is recorded at once, the rest by the batch.
        if (!request_.measure_all && !proxy_.runs) continue;
        record({batch.back()});
        observer_.searching(all_.size() + batch.size());
        check_stop();
      }
      if (batch.empty()) break;
      record(batch);
      strategy->observe(batch);
      for (Evaluated& e : batch) {
        if (seen_.insert(space_.key_of(e.candidate)).second) all_.push_back(std::move(e));
      }
      observer_.searching(all_.size());
    }
    result_.evaluated = all_.size();
    if (all_.empty()) explain();
    for (const size_t i : front(all_)) frontier_.push_back(all_[i]);
    result_.frontier = frontier_.size();
  }

  std::string describe(const Evaluated& e) const {
    return text(space_.key_of(e.candidate), " (", format_seconds(e.cost.latency), ", ",
                format_bytes(e.cost.memory()), ", ", format_count(static_cast<double>(e.cost.total)),
                " parameters)");
  }

  // Nothing fits: which limit is in the way, and what comes nearest to it.
  [[noreturn]] void explain() {
    if (request_.measure_all)
      throw Error(text("search: none of the models measured fits the limits; loosen them. Without "
                       "--measure-all and with --strategy exact it is told which one is in the way"),
                  kInfeasible);
    if (request_.strategy != "exact") {
      const std::vector<Evaluated> fitting = exact_front(question());
      if (!fitting.empty())
        throw Error(text("search: ", request_.strategy, " came upon no model of ", space_.name,
                         " that fits, but there are such: ", describe(fitting.front()),
                         "; use --strategy exact, or loosen the limits"),
                    kInfeasible);
    }
    struct Way {
      const char* name;
      void (*lift)(Limits&);
      double (*cost)(const Cost&);
    };
    const Way ways[] = {
        {"latency", [](Limits& l) { l.latency = INFINITY; }, [](const Cost& c) { return c.latency; }},
        {"memory", [](Limits& l) { l.memory = INT64_MAX; },
         [](const Cost& c) { return static_cast<double>(c.memory()); }},
        {"parameters", [](Limits& l) { l.total = INT64_MAX; },
         [](const Cost& c) { return static_cast<double>(c.total); }}};
    for (const Way& way : ways) {
      Question lifted = question();
      way.lift(lifted.limits);
      const std::vector<Evaluated> found = exact_front(lifted);
      if (found.empty()) continue;
      const auto nearest = std::min_element(found.begin(), found.end(), [&](const auto& a, const auto& b) {
        return way.cost(a.cost) < way.cost(b.cost);
      });
      throw Error(text("search: no model of ", space_.name, " fits; the limit on ", way.name,
                       " is in the way. The nearest: ", describe(*nearest)),
                  kInfeasible);
    }
    Question unlimited = question();
    unlimited.limits = {};
    const std::vector<Evaluated> found = exact_front(unlimited);
    if (found.empty())
      throw Error(
          text("search: no model of ", space_.name, " has as many parameters as its [limits] ask for"),
          kInfeasible);
    const auto smallest = std::min_element(found.begin(), found.end(), [&](const auto& a, const auto& b) {
      return a.cost.memory() < b.cost.memory();
    });
    throw Error(
        text("search: no model of ", space_.name,
             " fits, and none would with any one of the limits lifted; loosen them all. The smallest: ",
             describe(*smallest)),
        kInfeasible);
  }

  // Whole, in turns. Rounds that are done already are taken from the records.
  void measure_models(const std::vector<FoundModel*>& models) {
    const auto time_one = [&](size_t i, int64_t round) {
      check_stop();
      const std::string key = measure::piece_key(models[i]->model, space_.length);
      auto measurement = records_.measurement(key, round);
      if (!measurement) {
        measurement = measure::time_whole(models[i]->model, space_.length);
        folder_.check_in_place();
        records_.save(key, round, *measurement);
      }
      models[i]->resident = std::max(models[i]->resident, measurement->bytes);
      return measurement->timing;
    };
    const auto timings = measure::time_in_turns(
        models.size(), time_one, [&](size_t done, size_t all) { observer_.measuring(done, all); });
    for (size_t i = 0; i < models.size(); ++i) models[i]->measured = timings[i];
  }

  FoundModel found(std::string name, const Evaluated& e) const {
    FoundModel model{std::move(name), e, space_.model_of(e.candidate), 0, {}, 0, {}};
    model.planned = costs_.planned(e.candidate).memory();
    return model;
  }

  // A baseline, and which model of the frontier is as good and fastest.
  FoundModel rival_of(const Baseline& baseline, std::set<size_t>& chosen) {
    FoundModel model{baseline.name, {}, baseline.model, 0, {}, 0, {}};
    const model::ParameterCount count = model::count_parameters(baseline.model);
    model.predicted.cost.decoder = count.decoder, model.predicted.cost.total = count.total;
    model.predicted.score = sample_.score(
        proxy_, baseline_recipe(space_, frontier_, baseline.name, baseline.model), space_.length);
    model.planned =
        graph::plan(*measure::build_timed(baseline.model, measure::prompt_use(space_.length))).memory.peak();
    size_t rival = frontier_.size();
    for (size_t i = 0; i < frontier_.size(); ++i) {
      if (frontier_[i].score >= model.predicted.score &&
          (rival == frontier_.size() || frontier_[i].cost.latency < frontier_[rival].cost.latency))
        rival = i;
    }
    if (rival < frontier_.size()) chosen.insert(rival);
    return model;
  }

  // With the baselines, if it is the first time. What turns out to break a limit is dropped.
  void measure_chosen(const std::vector<size_t>& order, bool first) {
    std::vector<FoundModel> models;
    for (const size_t i : order) {
      char name[16];
      std::snprintf(name, sizeof name, "m%02zu", ++named_);
      models.push_back(found(name, frontier_[i]));
    }
    std::vector<FoundModel*> all;
    const auto add = [&](FoundModel& model, ModelRole role) {
      records_.save(measure::piece_key(model.model, space_.length), model, role);
      all.push_back(&model);
    };
    for (FoundModel& model : models) add(model, ModelRole::kModel);
    for (FoundModel& model : result_.baselines) {
      if (first) add(model, ModelRole::kBaseline);
    }
    measure_models(all);
    for (FoundModel& model : models) {
      const bool kept =
          model.measured.median <= request_.limits.latency && model.planned <= request_.limits.memory;
      (kept ? result_.models : result_.dropped).push_back(std::move(model));
    }
  }

  // The best model that should fit, by how far whole models are from their predictions, with a little more
  // room in every try: those dropped may have left a gap between the best one kept and the limits.
  std::optional<size_t> better_than_kept(const std::set<size_t>& measured, int tries) const {
    std::vector<double> slower, larger;
    for (const auto* models : {&result_.models, &result_.dropped}) {
      for (const FoundModel& m : *models) {
        slower.push_back(m.measured.median / m.predicted.cost.latency);
        larger.push_back(static_cast<double>(m.planned) / static_cast<double>(m.predicted.cost.memory()));
      }
    }
    const double room = 1 + 0.03 * tries;
    const double most_latency = request_.limits.latency / (room * measure::percentile(slower, 0.5)),
                 most_memory =
                     static_cast<double>(request_.limits.memory) / (room * measure::percentile(larger, 0.5));
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

  void measure_best() {
    std::vector<Point> points;
    for (const Evaluated& e : frontier_) points.push_back(point_of(e));
    std::set<size_t> chosen;
    for (const size_t i : spread(points, static_cast<size_t>(request_.keep))) chosen.insert(i);
    if (request_.baselines) {
      for (const Baseline& baseline : baselines(space_))
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
    points = measured_points();
    std::set<size_t> best;
    for (const size_t i : front(points)) best.insert(i);
    std::vector<FoundModel> models;
    for (size_t i = 0; i < result_.models.size(); ++i)
      (best.contains(i) ? models : result_.dominated).push_back(std::move(result_.models[i]));
    result_.models = std::move(models);
    points = measured_points();
    const Picks picks = pick(points);
    result_.models[picks.best].picks.push_back("best");
    result_.models[picks.knee].picks.push_back("knee");
    result_.models[picks.cheap].picks.push_back("cheapest within 1% of the best");
  }

  const SearchRequest& request_;
  SearchObserver& observer_;
  const spec::Space& space_;
  const Proxy& proxy_;
  store::RunFolder folder_;
  Records records_;
  Sample sample_;
  store::Database database_;
  measure::DeviceProfile profile_;
  ProfiledCosts costs_;
  std::vector<Evaluated> all_, frontier_;
  std::set<std::string> seen_;  // keys of all_
  size_t named_ = 0;
  SearchResult result_;
};

}  // namespace

SearchResult run_search(const SearchRequest& request, SearchObserver& observer) {
  validate(request.settings);
  validate(request.sample);
  if (request.keep < 1) throw usage_error("search: keep is ", request.keep, "; it must be positive");
  if (!strategies().find(request.strategy).make)
    throw usage_error("search: ", request.strategy, " does not search spaces; it takes a recipe and a text");
  return Search(request, observer).run();
}

}  // namespace heed::search
