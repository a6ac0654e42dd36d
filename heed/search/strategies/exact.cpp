#include "heed/search/strategies/exact.h"

#include <atomic>
#include <cmath>
#include <exception>
#include <map>
#include <optional>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/search/strategies/dominated.h"

namespace heed::search {
namespace {

constexpr size_t kMostSums = 20'000'000;

// A layer that may be chosen, the fastest of those that are otherwise equal.
struct Option {
  spec::Layer layer;
  Cost cost;
};

// Some layers of one width.
struct Sum {
  double latency = 0;
  double step = 0, load = 0;  // 0 where nobody asks for it
  int64_t decoder = 0, resident = 0, arena = 0;
  Worth gains = {};     // what the score rises with
  int32_t before = -1;  // the sum without the last layer, in the pool
  int32_t option = -1;  // the last layer
};

// Sums that are equal in gains, parameters, memory, step and load; the fastest is enough.
struct Key {
  Worth gains;
  int64_t decoder, resident;
  double step, load;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t hash = static_cast<size_t>(key.decoder) * 0x9E3779B97F4A7C15u ^
                  static_cast<size_t>(key.resident) * 0xC2B2AE3D27D4EB4Fu;
    for (const int64_t gain : key.gains) hash = (hash ^ static_cast<size_t>(gain)) * 0x9E3779B97F4A7C15u;
    for (const double seconds : {key.step, key.load})
      hash = (hash ^ std::hash<double>()(seconds)) * 0x9E3779B97F4A7C15u;
    return hash;
  }
};

// Whether the time for one more token matters: then it adds up like latency, and otherwise it would only keep
// sums apart.
bool counts_steps(const SearchProblem& problem) {
  return problem.objective == Objective::kStep || std::isfinite(problem.limits.step);
}

// The same for the time to load.
bool counts_loading(const SearchProblem& problem) {
  return problem.objective == Objective::kFirstToken || std::isfinite(problem.limits.first_token);
}

// All models of one width.
class Width {
 public:
  Width(const SearchProblem& problem, int64_t width) : problem_(problem), width_(width) {
    const bool steps = counts_steps(problem), loading = counts_loading(problem);
    std::map<std::tuple<int64_t, int64_t, int64_t, Worth, double, double>, Option>
        fastest;  // by everything else
    for (const spec::Layer& layer : problem.space.options(width)) {
      if (problem.allows && !problem.allows(width, layer)) continue;
      Cost cost = problem.costs.of_layer(width, layer);
      if (!steps) cost.step = 0;
      if (!loading) cost.load = 0;
      const auto [at, is_new] = fastest.try_emplace(
          {cost.arena, cost.decoder, cost.resident, cost.worth, cost.step, cost.load}, Option{layer, cost});
      if (!is_new && cost.latency < at->second.cost.latency) at->second = {layer, cost};
    }
    for (const auto& [key, option] : fastest) options_.push_back(option);  // arenas rise
    for (const spec::Frame& frame : problem.space.frames()) {
      if (frame.width == width) frames_.emplace_back(frame, problem.costs.of_frame(frame));
    }
  }

  // Enumerates all sums of layers. `progress` gets the share that is done.
  void solve(const std::function<void(double share)>& progress) {
    if (options_.empty() || frames_.empty()) return;
    bound();
    if (prunes_) drop_dominated_options();
    sums_.assign(static_cast<size_t>(deepest_) + 1, {});
    pruned_.assign(sums_.size(), 32);
    sums_[0][{}] = 0;
    pool_.push_back({});
    // Layers with larger arenas come later: when the last option of an arena has been added, the table holds
    // the fastest sums that fit into it.
    for (size_t i = 0; i < options_.size(); ++i) {
      progress(static_cast<double>(i) / static_cast<double>(options_.size()));
      add_option(static_cast<int32_t>(i));
      if (i + 1 == options_.size() || options_[i + 1].cost.arena != options_[i].cost.arena) collect();
    }
    sums_.clear();
  }

  // A frame and a sum of layers in it.
  struct Found {
    size_t frame;
    int32_t sum;
  };
  // Adds every model that may be on the frontier.
  void add_to(std::vector<Found>& found, std::vector<Point>& points) const {
    std::vector<Found> here;
    std::vector<Point> points_here;
    for (size_t i = 0; i < frames_.size(); ++i) {
      here.clear(), points_here.clear();
      for (const int32_t sum : found_) {
        const Evaluated model = evaluated({i, sum});
        if (!is_allowed(model.cost)) continue;
        here.push_back({i, sum});
        points_here.push_back(point_of(model, problem_.objective));
      }
      for (const size_t k : front(points_here)) {
        found.push_back(here[k]);
        points.push_back(points_here[k]);
      }
    }
  }

  // Adds the best model of each frame.
  void add_best_to(std::vector<Evaluated>& best) const {
    for (size_t i = 0; i < frames_.size(); ++i) {
      std::optional<Found> found;
      Evaluated highest;
      for (const int32_t sum : found_) {
        const Evaluated model = evaluated({i, sum});
        if (!is_allowed(model.cost)) continue;
        const bool higher = !found || model.score > highest.score;
        if (!higher && (model.score < highest.score ||
                        time_of(model.cost, problem_.objective) >= time_of(highest.cost, problem_.objective)))
          continue;
        found = Found{i, sum};
        highest = model;
      }
      if (found) best.push_back(model(*found));
    }
  }

  // The same with its layers.
  Evaluated model(const Found& found) const {
    Evaluated model = evaluated(found);
    for (int32_t at = found.sum; sum_at(at).option >= 0; at = sum_at(at).before)
      model.candidate.layers.push_back(options_[static_cast<size_t>(sum_at(at).option)].layer);
    std::sort(model.candidate.layers.begin(), model.candidate.layers.end());
    for (const spec::Layer& layer : model.candidate.layers) {  // what was not summed
      const Cost cost = problem_.costs.of_layer(width_, layer);
      if (!counts_steps(problem_)) model.cost.step += cost.step;
      if (!counts_loading(problem_)) model.cost.load += cost.load;
    }
    return model;
  }

 private:
  // The limits of all sums, and which of those on parameters matter.
  void bound() {
    Cost least{INFINITY, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    least.step = least.load = INFINITY;
    int64_t most_decoder = 0, tightest = INT64_MAX;
    for (const auto& [frame, cost] : frames_) {
      least.latency = std::min(least.latency, cost.latency);
      least.step = std::min(least.step, cost.step);
      least.load = std::min(least.load, cost.load);
      least.resident = std::min(least.resident, cost.resident);
      const int64_t room =
          std::min(problem_.space.most_decoder - cost.decoder,
                   std::min(problem_.space.most_total, problem_.limits.most_total()) - cost.total);
      most_decoder = std::max(most_decoder, room);
      tightest = std::min(tightest, room);
      more_parameters_ |=
          cost.decoder < problem_.space.least_decoder || cost.total < problem_.space.least_total;
    }
    most_decoder_ = most_decoder;
    most_latency_ = problem_.limits.latency - least.latency;
    most_step_ = problem_.limits.step - least.step;
    most_first_token_ = problem_.limits.first_token - least.first_token();
    most_resident_ = problem_.limits.memory - least.resident;
    deepest_ = *std::max_element(problem_.space.layers.begin(), problem_.space.layers.end());
    int64_t largest = 0;
    for (const Option& option : options_) largest = std::max(largest, option.cost.decoder);
    fewer_parameters_ = tightest / deepest_ < largest;
    // Of sums with equally many parameters hardly any dominates another.
    prunes_ = problem_.gains == Gains::kWorth || !fewer_parameters_;
  }

  // Everything that adds up; limits may exclude a sum with more parameters, or one with fewer.
  Coordinates coordinates_of(const Sum& sum) const {
    const auto decoder = static_cast<double>(sum.decoder);
    return {-static_cast<double>(sum.gains[0]),
            -static_cast<double>(sum.gains[1]),
            sum.latency,
            static_cast<double>(sum.resident),
            static_cast<double>(sum.arena),
            sum.step,
            sum.load,
            fewer_parameters_ ? decoder : 0,
            more_parameters_ ? -decoder : 0};
  }

  // Any layer can be replaced by one that dominates it.
  void drop_dominated_options() {
    std::vector<Coordinates> points;
    for (const Option& option : options_) {
      const Cost& cost = option.cost;
      points.push_back(coordinates_of(
          {cost.latency, cost.step, cost.load, cost.decoder, cost.resident, cost.arena, gains_of(cost)}));
    }
    const std::vector<uint8_t> is_dominated = dominated(points);
    size_t place = 0;
    std::erase_if(options_, [&](const Option&) { return is_dominated[place++] != 0; });
  }

  // Any number of times: the sums of n - 1 layers already contain it.
  void add_option(int32_t index) {
    const Option& option = options_[static_cast<size_t>(index)];
    for (size_t n = 1; n < sums_.size(); ++n) {
      for (const auto& [key, place] : sums_[n - 1]) {
        const Sum& before = sum_at(place);
        Sum sum{before.latency + option.cost.latency,
                before.step + option.cost.step,
                before.load + option.cost.load,
                before.decoder + option.cost.decoder,
                before.resident + option.cost.resident,
                std::max(before.arena, option.cost.arena),
                before.gains,
                place,
                index};
        const Worth gains = gains_of(option.cost);
        for (size_t i = 0; i < gains.size(); ++i) sum.gains[i] += gains[i];
        if (sum.latency > most_latency_ || sum.step > most_step_ ||
            sum.latency + sum.load > most_first_token_ || sum.decoder > most_decoder_ ||
            sum.resident > most_resident_)
          continue;
        const auto [at, is_new] =
            sums_[n].try_emplace({sum.gains, sum.decoder, sum.resident, sum.step, sum.load}, -1);
        if (!is_new && sum_at(at->second).latency <= sum.latency) continue;
        at->second = static_cast<int32_t>(pool_.size());
        pool_.push_back(sum);
        if (pool_.size() > kMostSums)
          throw usage_error("exact: the layers of width ", width_, " add up in more than ", kMostSums,
                            " ways; give fewer values, no limit on parameters, or --strategy evolution");
      }
      // Not each time: dominated sums do no harm while they are fewer than the others.
      if (prunes_ && sums_[n].size() > 2 * pruned_[n]) {
        prune(sums_[n]);
        pruned_[n] = std::max<size_t>(32, sums_[n].size());
      }
    }
  }

  void prune(std::unordered_map<Key, int32_t, KeyHash>& sums) const {
    std::vector<Coordinates> points;
    points.reserve(sums.size());
    for (const auto& [key, place] : sums) points.push_back(coordinates_of(sum_at(place)));
    const std::vector<uint8_t> is_dominated = dominated(points);
    size_t place = 0;
    std::erase_if(sums, [&](const auto&) { return is_dominated[place++] != 0; });
  }

  // Takes sums that are new since the last call and have one of the requested numbers of layers.
  void collect() {
    for (const int64_t n : problem_.space.layers) {
      for (const auto& [key, place] : sums_[static_cast<size_t>(n)]) {
        if (place >= collected_) found_.push_back(place);
      }
    }
    collected_ = static_cast<int32_t>(pool_.size());
  }

  bool is_allowed(const Cost& cost) const {
    return problem_.limits.admit(cost) && problem_.space.allows_size(cost.decoder, cost.total);
  }

  Worth gains_of(const Cost& cost) const {
    return problem_.gains == Gains::kWorth ? cost.worth : Worth{cost.decoder};
  }

  const Sum& sum_at(int32_t place) const { return pool_[static_cast<size_t>(place)]; }

  // Without layers.
  Evaluated evaluated(const Found& found) const {
    const Sum& sum = sum_at(found.sum);
    const auto& [frame, frame_cost] = frames_[found.frame];
    Cost cost{sum.latency, sum.decoder, sum.decoder, sum.resident, sum.arena};
    if (problem_.gains == Gains::kWorth) cost.worth = sum.gains;
    cost.step = sum.step, cost.load = sum.load;
    cost += frame_cost;
    return {{frame, {}}, cost, problem_.score(frame, cost)};
  }

  const SearchProblem& problem_;
  int64_t width_;
  std::vector<Option> options_;
  std::vector<std::pair<spec::Frame, Cost>> frames_;
  double most_latency_ = 0, most_step_ = 0, most_first_token_ = 0;
  int64_t most_decoder_ = 0, most_resident_ = 0, deepest_ = 0;
  bool fewer_parameters_ = false, more_parameters_ = false;  // matter
  bool prunes_ = false;
  std::vector<Sum> pool_;
  std::vector<std::unordered_map<Key, int32_t, KeyHash>> sums_;  // by number of layers: indices into the pool
  std::vector<size_t> pruned_;                                   // how many were left the last time
  std::vector<int32_t> found_;
  int32_t collected_ = 0;
};

// All widths, several at once; only the calling thread ticks.
class AllWidths {
 public:
  explicit AllWidths(const SearchProblem& problem) : problem_(problem), shares_(problem.space.width.size()) {
    for (const int64_t width : problem.space.width) widths_.emplace_back(problem, width);
  }

  std::vector<Width> solve() {
    parallel_for_workers(static_cast<int64_t>(widths_.size()), thread_count(), [&](int64_t i, int worker) {
      try {
        widths_[static_cast<size_t>(i)].solve([&](double share) { report(i, share, worker == 0); });
        shares_[static_cast<size_t>(i)] = 1;
      } catch (const Stopped&) {
      } catch (...) {
        if (!stop_.exchange(true)) error_ = std::current_exception();
      }
    });
    if (error_) std::rethrow_exception(error_);
    return std::move(widths_);
  }

 private:
  struct Stopped {};

  void report(int64_t width, double share, bool ticks) {
    if (stop_) throw Stopped();
    shares_[static_cast<size_t>(width)] = share;
    if (!ticks || !problem_.tick) return;
    double sum = 0;
    for (const auto& of_width : shares_) sum += of_width;
    problem_.tick(sum / static_cast<double>(shares_.size()));
  }

  const SearchProblem& problem_;
  std::vector<Width> widths_;
  std::vector<std::atomic<double>> shares_;
  std::atomic<bool> stop_ = false;
  std::exception_ptr error_;
};

struct ExactSettings {
  template <class Visitor>
  void visit(Visitor&&) {}
};
void validate(const ExactSettings&) {}

class Exact : public Strategy {
 public:
  Exact(const SearchProblem& problem, const ExactSettings&) : problem_(problem) {}
  std::vector<spec::Candidate> propose() override {
    std::vector<spec::Candidate> all;
    if (!std::exchange(done_, true)) {
      for (Evaluated& model : exact_front(problem_)) all.push_back(std::move(model.candidate));
    }
    return all;
  }
  void observe(std::span<const Evaluated>) override {}

 private:
  SearchProblem problem_;
  bool done_ = false;
};

}  // namespace

std::vector<Evaluated> exact_front(const SearchProblem& problem) {
  const std::vector<Width> widths = AllWidths(problem).solve();
  std::vector<size_t> width_of;
  std::vector<Width::Found> found;
  std::vector<Point> points;
  for (size_t i = 0; i < widths.size(); ++i) {
    widths[i].add_to(found, points);
    width_of.resize(found.size(), i);
  }
  std::vector<Evaluated> best;
  for (const size_t i : front(points)) best.push_back(widths[width_of[i]].model(found[i]));
  return best;
}

std::vector<Evaluated> exact_best(const SearchProblem& problem) {
  std::vector<Evaluated> best;
  for (const Width& width : AllWidths(problem).solve()) width.add_best_to(best);
  return best;
}

StrategyEntry exact_strategy() {
  auto entry = strategy_entry<Exact, ExactSettings>(
      "exact", "the frontier of the entire space, by dynamic programming");
  entry.needs_counted_score = entry.needs_profile = entry.is_exhaustive = true;
  return entry;
}

}  // namespace heed::search
