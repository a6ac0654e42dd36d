#include "heed/search/search_run.h"

#include <cmath>
#include <optional>
#include <set>

#include "heed/base/clock.h"
#include "heed/base/units.h"
#include "heed/measure/loading.h"
#include "heed/search/block_table.h"
#include "heed/search/finalists.h"
#include "heed/search/frontier_measurer.h"
#include "heed/search/infeasible.h"
#include "heed/search/records.h"
#include "heed/search/rivals.h"
#include "heed/search/strategies/exact.h"
#include "heed/search/worth/law_file.h"
#include "heed/search/worth/short_training.h"
#include "heed/search/worth/train_time.h"
#include "heed/search/worth/valuation.h"
#include "heed/search/worth/worth_run.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFinalists = 12;
constexpr double kSafeLatency = 0.97;  // of the limit, since predictions are off by a few percent
constexpr const char* kFitFolder = "worth";
constexpr const char* kYardstickKey = "yardstick";  // of its measurement in the records
constexpr double kSurely = 2;  // a model that takes this many times the limit in a first look exceeds it

class Search {
 public:
  Search(const SearchRequest& request, SearchObserver& observer)
      : request_(request),
        observer_(observer),
        space_(request_.space),
        strategy_(strategies().find(request.strategy)),
        settings_(strategy_.resolve(request.settings)),
        proxy_(proxies().find(request_.proxy)),
        folder_(request.folder, store::RunKind::kSearch, config_of(request, settings_), request.record,
                {.upgrade = upgraded_config}),
        records_(request.folder),
        sample_(request.sample, request.folder / "cache", [this] { observer_.check_stop(); }),
        database_(request.profile),
        profile_(database_, measure::this_device()),
        costs_(space_, profile_),
        valued_costs_(costs_, valuation_) {
    if (request_.measure_again) records_.begin_series();
  }

  SearchResult run() {
    begin([&] {
      check_request(request_);
      if (!proxy_.by_law) sample_.check(proxy_);
      if (trains_finalists(request_) || request_.compare > 0)
        leave_out_vocabularies(request_.space, request_.sample.data, finalists_folder(request_.folder),
                               [&](const std::string& sentence) { observer_.note(sentence); });
    });
    begin([&] { refuse_impossible(); });
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
    expect_tail();
    lap(result_.seconds_profile);
    if (by_law(request_)) {
      begin([&] {
        find_law(profiled);
        if (request_.train_time) choose_tokens(*request_.train_time);
        save_law();
      });
    }
    lap(result_.seconds_fit);
    begin([&] { evaluate_all(); });
    lap(result_.seconds_search);
    const MeasuringTools tools{
        request_,   observer_, folder_, records_, sample_, costs_, valuation_ ? &*valuation_ : nullptr,
        *yardstick_};
    measure_frontier(tools, frontier_, finalists_, result_);
    lap(result_.seconds_measure);
    if (!finalists_.empty()) train_finalists(request_, finalists_, peak_flops(), observer_, result_);
    lap(result_.seconds_train);
    if (request_.compare > 0) compare(tools, profile_, result_);
    lap(result_.seconds_compare);
    folder_.check_in_place();
    write_result(request_.folder, space_, frontier_, result_);
    return std::move(result_);
  }

 private:
  // Limits that even the smallest model exceeds are refused before the device is profiled.
  void refuse_impossible() {
    yardstick_.emplace();
    const std::optional<Evaluated> smallest = smallest_model(space_, costs_);
    if (!smallest) return;  // the search says why
    Evaluated first_look = *smallest;
    Limits limits = request_.limits;
    if (std::isfinite(std::min({limits.latency, limits.step, limits.first_token}))) {
      const spec::ModelSpec model = space_.model_of(smallest->candidate);
      const auto timed = [&](bool step) {
        return measure::time_whole(*yardstick_, model, {space_.length, step}).timing.low;
      };
      first_look.cost.latency = timed(false), first_look.cost.step = timed(true);
    }
    for (const auto& [objective, name] : EnumNames<Objective>::names) limits.of(objective) *= kSurely;
    if (!limits.admit(first_look.cost)) throw exceeded_by_smallest(space_, limits, first_look);
  }

  // How far the time that is asked for is from the median, on this machine.
  void expect_tail() {
    if (request_.percentile <= 50 || request_.measure_all) return;
    auto known = records_.measurement(kYardstickKey, records_.first_round());
    if (!known) {
      known.emplace();
      known->timing.tail = measure::tail_of(*yardstick_, share_within(request_));
      records_.save(kYardstickKey, records_.first_round(), *known);
    }
    tail_ = known->timing.tail;
  }

  // The limits on medians that keep those of the request.
  Limits median_limits() const {
    Limits limits = request_.limits;
    for (const auto& [objective, name] : EnumNames<Objective>::names) limits.of(objective) /= tail_;
    return limits;
  }

  // The law that was asked for, or the space's, or one fitted to the text from there on.
  void find_law(bool profiled) {
    value(request_.law.empty() ? prior_of(space_) : load_law(request_.law));
    if (const double seconds = fits_law(request_) ? seconds_to_fit(profiled) : 0; seconds > 0) {
      observer_.note(
          text("fitting a law of worth to ", request_.sample.data, ", in at most ", format_seconds(seconds)));
      WorthSettings settings;
      settings.tokens = std::min(settings.tokens, tokens_of(space_.training));
      value(run_worth({request_.space, settings, seconds, request_.sample.data, request_.folder / kFitFolder,
                       request_.record},
                      observer_)
                .law);
    }
  }

  // A copy, since the file that it came from may change or be removed.
  void save_law() const {
    store::write_json_object(request_.folder / kLawFile,
                             {{"law", to_json(valuation_->law())}, {"tokens", valuation_->tokens()}});
  }

  void value(const Law& law) {
    valuation_.emplace(request_.space, law, static_cast<double>(tokens_of(space_.training)));
  }

  // By the law; none if nothing fits.
  std::optional<Evaluated> most_promising() {
    std::optional<Evaluated> best;
    for (Evaluated& model : exact_best(problem())) {
      if (!best || model.score > best->score) best = std::move(model);
    }
    return best;
  }

  // The number of tokens whose best model is best of all, if they must be seen in this time.
  void choose_tokens(double seconds) {
    const spec::TrainingSpec usual = space_.training;
    const Limits limits = request_.limits;
    const Law law = valuation_->law();
    const int64_t in_text =
        tokens_to_train_on(space_, request_.sample.data, finalists_folder(request_.folder));
    const auto assume = [&](const TimedTraining& training) {
      request_.space.training = for_tokens(usual, training.tokens);
      request_.limits.total = std::min(limits.total, training.most_parameters);
      value(law);
    };
    const TimedTraining best =
        train_in_time({seconds, peak_flops(), tokens_per_update(usual), kMostPasses * in_text},
                      [&](const TimedTraining& training) {
                        assume(training);
                        const std::optional<Evaluated> model = most_promising();
                        return model ? model->score : -INFINITY;
                      });
    if (best.tokens == 0) throw too_little_time(seconds, limits);
    assume(best);
    observer_.note(text("in ", format_seconds(seconds), " it is best to train on ",
                        format_count(static_cast<double>(best.tokens)), " tokens, a model of ",
                        format_count(static_cast<double>(most_promising()->cost.total)),
                        " parameters; the text has ", format_count(static_cast<double>(in_text)), " tokens",
                        best.tokens > (kMostPasses - 1) * in_text
                            ? ", and more passes over it would teach little: more text would help"
                            : ""));
  }

  // Nothing can be trained in this time, or nothing fits anyway.
  Error too_little_time(double seconds, const Limits& limits) {
    request_.limits = limits;
    const std::vector<Evaluated> fitting = exact_best(problem());
    if (fitting.empty()) return explain_infeasible(problem(), strategy_);
    int64_t smallest = INT64_MAX;
    for (const Evaluated& model : fitting) smallest = std::min(smallest, model.cost.total);
    const int64_t least = kLeastTimedUpdates * tokens_per_update(space_.training);
    return infeasible_error(
        "search: --train-time is ", format_seconds(seconds), ", and ", least,
        " tokens, the fewest that a model can be chosen for, take at least ",
        format_seconds(measure::training_seconds(training_flops(smallest, least), peak_flops())),
        "; give more time, or a space with smaller models");
  }

  // From the profile, so that what is planned by it is the same when a search is resumed.
  double peak_flops() const {
    const double peak = profile_.peak_flops();
    return peak > 0 ? peak : measure::peak_flops();
  }

  double seconds_to_fit(bool profiled) {
    if (request_.fit) return *request_.fit;
    if (request_.train_time) return usual_fit(*request_.train_time);
    const fs::path begun = request_.folder / kFitFolder / "config.json";
    if (fs::exists(begun)) return store::read_json_object(begun).value("budget", 0.0);
    if (!profiled) return 0;
    // That nothing fits is better known before.
    const std::optional<Evaluated> highest = most_promising();
    if (!highest) throw explain_infeasible(problem(), strategy_);
    return usual_fit(measure::training_seconds(
        training_flops(highest->cost.total, tokens_of(space_.training)), peak_flops()));
  }

  // The next attempt will have other limits, and may use the same folder unless models were evaluated in it.
  void begin(const std::function<void()>& body) {
    folder_.begin(body, [this] { return records_.evaluated() > 0; });
  }

  double score(const spec::Frame& frame, const Cost& cost) const {
    if (valuation_) return valuation_->score(frame, cost.worth);
    if (!proxy_.of_counts) return static_cast<double>(cost.decoder);  // any order is enough to say what fits
    return proxy_.of_counts(cost.decoder, cost.total, frame.width,
                            frame.embedding_width ? frame.embedding_width : frame.width);
  }

  bool inside(const Cost& cost) const {
    return median_limits().admit(cost) && space_.allows_size(cost.decoder, cost.total);
  }

  Cost cost_of(const spec::Candidate& candidate) {
    if (!request_.measure_all) return valued_costs_.of(candidate);
    Cost cost = costs_.planned(candidate);
    if (valuation_) cost.worth = valuation_->of(candidate);
    const auto timed = [&](bool step) {
      const measure::WholeTiming whole = measure::time_whole(*yardstick_, space_.model_of(candidate),
                                                             {space_.length, step}, share_within(request_));
      return scaled(whole.timing, costs_.reference()).held();
    };
    cost.latency = timed(false);
    cost.step = timed(true);
    cost.load = scaled(measure::time_loading(*yardstick_, space_.model_of(candidate), space_.length),
                       costs_.reference())
                    .median;
    return cost;
  }

  Evaluated evaluate(const spec::Candidate& candidate) {
    if (const auto known = records_.find(space_.key_of(candidate), candidate)) return *known;
    const Cost cost = cost_of(candidate);
    return {candidate, cost,
            counted_ ? score(candidate.frame, cost)
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
            median_limits(),
            valued_costs_,
            [this](double share) {
              observer_.searching_share(share);
              observer_.check_stop();
            },
            [this](const spec::Frame& frame, const Cost& cost) { return score(frame, cost); },
            [this](const spec::Candidate& candidate) {
              if (!request_.measure_all) return inside(costs_.of(candidate));
              if (!inside(costs_.planned(candidate))) return false;  // not worth timing
              observer_.check_stop();
              // A measurement is expensive: it is kept even if the model is not.
              const Evaluated e = evaluate(candidate);
              record({e});
              return inside(e.cost);
            },
            valuation_ ? Gains::kWorth : Gains::kDecoder,
            request_.objective};
  }

  void evaluate_all() {
    const auto strategy = strategy_.make(problem(), settings_);
    const auto most = static_cast<size_t>(strategy->most());
    for (size_t evaluated = 0;;) {  // a candidate may be proposed again
      observer_.check_stop();
      std::vector<Evaluated> batch;
      for (const spec::Candidate& candidate : strategy->propose()) {
        batch.push_back(evaluate(candidate));
        ++evaluated;
        // Expensive evaluations are recorded at once, the others per batch.
        if (!request_.measure_all && !proxy_.runs) continue;
        record({batch.back()});
        observer_.searching(evaluated, most);
        observer_.check_stop();
      }
      if (batch.empty()) break;
      record(batch);
      strategy->observe(batch);
      for (Evaluated& e : batch) {
        if (seen_.insert(space_.key_of(e.candidate)).second) all_.push_back(std::move(e));
      }
      observer_.searching(evaluated, most);
    }
    result_.evaluated = all_.size();
    if (all_.empty())
      throw request_.measure_all
          ? infeasible_error(
                "search: none of the models measured fits the limits; loosen them. Without --measure-all and "
                "with --strategy exact heed says which one is too tight")
          : explain_infeasible(problem(), strategy_);
    for (const size_t i : front(all_, FrontRule::kNonDominated, request_.objective))
      frontier_.push_back(all_[i]);
    result_.frontier = frontier_.size();
    if (trains_finalists(request_)) {
      SearchProblem safe = problem();
      for (const auto& [objective, name] : EnumNames<Objective>::names)
        safe.limits.of(objective) *= kSafeLatency;
      finalists_ = promising(safe, kFinalists);
    }
  }

  SearchRequest request_;
  SearchObserver& observer_;
  const spec::Space& space_;
  const StrategyEntry& strategy_;
  Json settings_;
  const Proxy& proxy_;
  const bool counted_ = by_counts(request_);  // the score
  store::RunFolder folder_;
  Records records_;
  Sample sample_;
  store::Database database_;
  measure::DeviceProfile profile_;
  ProfiledCosts costs_;
  std::optional<Valuation> valuation_;  // if the proxy is a law
  ValuedCosts valued_costs_;
  std::optional<measure::Yardstick> yardstick_;
  double tail_ = 1;  // of the times that the limits are about, over medians
  std::vector<Evaluated> all_, frontier_, finalists_;
  std::set<std::string> seen_;  // keys of all_
  SearchResult result_;
};

}  // namespace

SearchResult run_search(const SearchRequest& request, SearchObserver& observer) {
  validate(request.sample);
  check_positive("keep", request.keep);
  const SearchRequest whole = resolved(request);
  return Search(whole, observer).run();
}

}  // namespace heed::search
