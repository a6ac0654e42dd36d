#include "heed/search/search_run.h"

#include <cmath>
#include <optional>
#include <set>

#include "heed/base/clock.h"
#include "heed/search/block_table.h"
#include "heed/search/frontier_measurer.h"
#include "heed/search/infeasible.h"
#include "heed/search/records.h"
#include "heed/spec/space_definition.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSettings = "strategy_settings";

Json config_of(const SearchRequest& r, const Json& settings) {
  Json limits = Json::object();
  if (std::isfinite(r.limits.latency)) limits["latency"] = r.limits.latency;
  if (r.limits.memory != INT64_MAX) limits["memory"] = r.limits.memory;
  if (r.limits.total != INT64_MAX) limits["parameters"] = r.limits.total;
  return {{"space", r.space.name},
          {spec::kSpaceDefinition, r.space.source},
          {"device", measure::this_device().fingerprint()},
          {"strategy", r.strategy},
          {"proxy", r.proxy},
          {"latency", r.measure_all ? "measured" : "summed"},
          {"keep", r.keep},
          {"baselines", r.baselines},
          {"limits", limits},
          {"sample", heed::to_json(r.sample)},
          {kSettings, settings}};
}

// Earlier versions kept the settings of every strategy, as "settings".
Json upgraded_config(const Json& before) {
  Json config = spec::with_space_definition(before);
  if (!config.contains("settings") || !config.value("strategy", Json()).is_string()) return config;
  const StrategyEntry& strategy = strategies().find(config["strategy"]);
  const Json all = config["settings"];
  Json own = Json::object();
  for (const DescribedField& field : strategy.settings) {
    if (all.contains(field.name)) own[field.name] = all[field.name];
  }
  config.erase("settings");
  config[kSettings] = strategy.resolve(own);
  return config;
}

class Search {
 public:
  Search(const SearchRequest& request, SearchObserver& observer)
      : request_(request),
        observer_(observer),
        space_(request_.space),
        strategy_(strategies().find(request.strategy)),
        settings_(strategy_.resolve(request.settings)),
        proxy_(proxies().find(request.proxy)),
        folder_(request.folder, store::RunKind::kSearch, config_of(request, settings_), request.record,
                upgraded_config),
        records_(request.folder),
        sample_(request.sample, request.folder / "cache"),
        database_(request.profile),
        profile_(database_, measure::this_device()),
        costs_(space_, profile_) {}

  SearchResult run() {
    begin([&] { check_request(); });
    double begun = now_seconds();
    const auto lap = [&](double& seconds) {
      seconds = now_seconds() - begun;
      begun = now_seconds();
    };
    const bool profiled = !request_.measure_all || strategy_.needs_profile;
    if (profiled)
      fill_profile(space_, profile_, [&](const ProfileProgress& progress) {
        observer_.profiling(progress);
        observer_.check_stop();
      });
    if (!fs::exists(request_.folder / "blocks.json"))
      store::write_json_object(request_.folder / "blocks.json",
                               block_table(space_, profiled ? &profile_ : nullptr));
    lap(result_.seconds_profile);
    yardstick_.emplace();
    begin([&] { evaluate_all(); });
    lap(result_.seconds_search);
    measure_frontier({request_, observer_, folder_, records_, sample_, costs_, *yardstick_}, frontier_,
                     result_);
    lap(result_.seconds_measure);
    folder_.check_in_place();
    write_result(request_.folder, space_, frontier_, result_);
    return std::move(result_);
  }

 private:
  // The next attempt will have other limits, and may use the same folder unless models were evaluated in it.
  void begin(const std::function<void()>& body) {
    folder_.begin(body, [this] { return records_.evaluated() > 0; });
  }

  // Everything that can be refused is checked before the device is profiled.
  void check_request() {
    if (strategy_.needs_counted_score && !proxy_.of_counts)
      throw usage_error("search: ", strategy_.name, " needs a proxy that follows from the sizes, such as ",
                        SearchRequest().proxy, "; ", proxy_.name, " works with --strategy ",
                        strategy_for_any_score());
    sample_.check(proxy_);
    const Limits& l = request_.limits;
    if (!(l.latency > 0) || l.memory < 1 || l.total < 1)
      throw usage_error("search: a limit of 0 or less leaves no model; give positive ones");
  }

  static std::string strategy_for_any_score() {
    for (const StrategyEntry& entry : strategies()) {
      if (!entry.needs_counted_score) return entry.name;
    }
    return "";
  }

  double score(const spec::Frame& frame, int64_t decoder, int64_t total) const {
    if (!proxy_.of_counts) return static_cast<double>(decoder);  // any order is enough to say what fits
    return proxy_.of_counts(decoder, total, frame.width,
                            frame.embedding_width ? frame.embedding_width : frame.width);
  }

  bool inside(const Cost& cost) const {
    return request_.limits.admit(cost) && space_.allows_size(cost.decoder, cost.total);
  }

  Cost cost_of(const spec::Candidate& candidate) {
    if (!request_.measure_all) return costs_.of(candidate);
    Cost cost = costs_.planned(candidate);
    const measure::WholeTiming whole =
        measure::time_whole(*yardstick_, space_.model_of(candidate), space_.length);
    cost.latency = scaled(whole.timing, costs_.reference()).median;
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

  SearchProblem problem() {
    return {space_,
            request_.limits,
            costs_,
            [this](double share) {
              observer_.searching_share(share);
              observer_.check_stop();
            },
            [this](const spec::Frame& frame, int64_t decoder, int64_t total) {
              return score(frame, decoder, total);
            },
            [this](const spec::Candidate& candidate) {
              if (!request_.measure_all) return inside(costs_.of(candidate));
              if (!inside(costs_.planned(candidate))) return false;  // not worth timing
              observer_.check_stop();
              // A measurement is expensive: it is kept even if the model is not.
              const Evaluated e = evaluate(candidate);
              record({e});
              return inside(e.cost);
            }};
  }

  void evaluate_all() {
    const auto strategy = strategy_.make(problem(), settings_);
    for (;;) {
      observer_.check_stop();
      std::vector<Evaluated> batch;
      for (const spec::Candidate& candidate : strategy->propose()) {
        batch.push_back(evaluate(candidate));
        // Expensive evaluations are recorded at once, the others per batch.
        if (!request_.measure_all && !proxy_.runs) continue;
        record({batch.back()});
        observer_.searching(all_.size() + batch.size());
        observer_.check_stop();
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
    if (all_.empty())
      throw request_.measure_all
          ? infeasible_error(
                "search: none of the models measured fits the limits; loosen them. Without --measure-all and "
                "with --strategy exact heed says which one is in the way")
          : explain_infeasible(problem(), strategy_);
    for (const size_t i : front(all_)) frontier_.push_back(all_[i]);
    result_.frontier = frontier_.size();
  }

  const SearchRequest& request_;
  SearchObserver& observer_;
  const spec::Space& space_;
  const StrategyEntry& strategy_;
  Json settings_;
  const Proxy& proxy_;
  store::RunFolder folder_;
  Records records_;
  Sample sample_;
  store::Database database_;
  measure::DeviceProfile profile_;
  ProfiledCosts costs_;
  std::optional<measure::Yardstick> yardstick_;
  std::vector<Evaluated> all_, frontier_;
  std::set<std::string> seen_;  // keys of all_
  SearchResult result_;
};

}  // namespace

SearchResult run_search(const SearchRequest& request, SearchObserver& observer) {
  validate(request.sample);
  check_positive("keep", request.keep);
  return Search(request, observer).run();
}

}  // namespace heed::search
