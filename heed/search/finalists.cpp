#include "heed/search/finalists.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "heed/base/clock.h"
#include "heed/base/threads.h"
#include "heed/measure/timing.h"
#include "heed/search/strategies/exact.h"
#include "heed/search/worth/worth_run.h"
#include "heed/store/json_file.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

// After fewer updates the order of the better models says little about the order at the end.
constexpr int64_t kLeastUpdates = 80;
// A quarter of a short training would be over before anything is learned.
constexpr double kLeastSeconds = 300, kMostSeconds = 600;
constexpr double kLeastToFit = 300;
// Enough to know how long one takes.
constexpr int64_t kPaceUpdates = 8;

// The recommended model is among those reported, even if another is predicted to be better in everything.
void recommend(const FoundModel& best, Objective objective, SearchResult& result) {
  const std::string name = best.name;
  for (FoundModel& model : result.models) std::erase(model.picks, kRecommended);
  for (size_t i = 0; i < result.dominated.size(); ++i) {
    if (result.dominated[i].name != name) continue;
    result.models.push_back(std::move(result.dominated[i]));
    result.dominated.erase(result.dominated.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  std::ranges::stable_sort(result.models, {}, [&](const FoundModel& m) { return m.time(objective).median; });
  for (FoundModel& model : result.models) {
    if (model.name == name) model.picks.insert(model.picks.begin(), kRecommended);
  }
}

// Where a search has trained the model of a recipe that it wrote, if it has; empty for other recipes.
fs::path begun_training(const fs::path& recipe_file) {
  const fs::path folder = recipe_file.parent_path();
  if (folder.filename() == kModelsFolder) return finalists_folder(folder.parent_path()) / recipe_file.stem();
  if (recipe_file.filename() != kPickFile || !fs::exists(folder / kResultFile)) return {};
  for (const Json& model : store::read_json_object(folder / kResultFile).value("models", Json::array())) {
    const Json picks = model.value("picks", Json::array());
    if (std::ranges::find(picks, Json(kRecommended)) != picks.end())
      return finalists_folder(folder) / model.value("name", "");
  }
  return {};
}

// The wall time of each round. Kept, so that a search that is resumed decides the same.
class Rounds {
 public:
  explicit Rounds(const fs::path& folder) : file_(folder / "rounds.json") {
    if (fs::exists(file_)) seconds_ = store::read_json_object(file_).value("seconds", seconds_);
  }

  // The next round; its time, which for a round that was finished earlier is what it took then.
  double run(const std::function<void()>& round) {
    const double begin = now_seconds();
    round();
    if (next_ == seconds_.size()) {
      seconds_.push_back(now_seconds() - begin);
      store::write_json_object(file_, {{"seconds", seconds_}});
    }
    return seconds_[next_++];
  }

 private:
  fs::path file_;
  std::vector<double> seconds_;
  size_t next_ = 0;
};

class FinalistTraining {
 public:
  FinalistTraining(const SearchRequest& request, const std::vector<Evaluated>& candidates, double peak,
                   ShortTrainingObserver& observer, SearchResult& result)
      : request_(request), observer_(observer), steps_(request.space.training.steps) {
    for (const Evaluated& candidate : candidates) {
      for (auto* models : {&result.models, &result.dominated}) {
        for (FoundModel& model : *models) {
          if (model.predicted.candidate == candidate.candidate) finalists_.push_back({&model});
        }
      }
      const double flops = training_flops(candidate.cost.total, tokens_of(request.space.training));
      seconds_ = std::max(seconds_, measure::training_seconds(flops, peak));
    }
  }

  // The best finalist; null if there are fewer than two to choose from.
  const FoundModel* best() {
    if (finalists_.size() < 2) return nullptr;
    rest_ = request_.finalists.value_or(usual_finalists(seconds_));
    fs::create_directories(finalists_folder(request_.folder));
    rounds_.emplace(finalists_folder(request_.folder));
    double largest = 0;
    for (const Finalist& finalist : finalists_) largest = std::max(largest, finalist.work());
    seconds_per_work_ = seconds_ * thread_count() / (largest * static_cast<double>(steps_));
    learn_pace();
    const Halving plan = plan_halving(finalists_.size(), steps_, pace_of(finalists_.size()), rest_);
    size_t left = plan.models;
    int64_t reached = 0;
    for (int64_t rounds = plan.rounds(); rounds > 0 && reached < steps_; --rounds, left /= 2) {
      reached = std::max(std::min(kPaceUpdates, steps_),
                         next_stop(left, rounds, reached, steps_, pace_of(left), rest_));
      std::vector<Finalist*> models;
      for (size_t i = 0; i < left; ++i) models.push_back(&finalists_[i]);
      train(models, reached);
      best_first();
    }
    if (reached == 0) return nullptr;
    use_rest(reached);
    return finalists_.front().model->trained.empty() ? nullptr : finalists_.front().model;
  }

 private:
  struct Finalist {
    FoundModel* model;
    int64_t reached = 0;  // updates
    double seconds = 0;   // of one thread
    double work() const { return static_cast<double>(model->predicted.cost.total); }
  };

  // The most promising and the largest make a few updates, to know how long they take here.
  void learn_pace() {
    const auto largest =
        std::ranges::max_element(finalists_.begin() + 1, finalists_.end(), {}, &Finalist::work);
    train({&finalists_.front(), &*largest}, std::min(kPaceUpdates, steps_));
  }

  TrainingPace pace_of(size_t first) const {
    double work = 0;
    for (size_t i = 0; i < first; ++i) work += finalists_[i].work();
    return {seconds_per_work_ * work / static_cast<double>(first), start_,
            static_cast<size_t>(thread_count())};
  }

  // Trains some of the finalists until an update.
  void train(const std::vector<Finalist*>& finalists, int64_t stop) {
    std::vector<ShortTraining> models;
    for (const Finalist* finalist : finalists) {
      const FoundModel& model = *finalist->model;
      ShortTraining& next = models.emplace_back();
      next.name = model.name;
      next.recipe = request_.space.recipe_of(model.predicted.candidate);
      next.work = finalist->work() * static_cast<double>(stop - finalist->reached);
      next.stop_after = stop;
    }
    const double wall = rounds_->run([&] {
      train_shortly(models, request_.sample.data, finalists_folder(request_.folder), request_.record, {},
                    observer_);
    });
    rest_ -= wall;
    // What follows is planned by the time that this really took.
    double work = 0, seconds = 0;
    for (size_t i = 0; i < models.size(); ++i) {
      work += models[i].work;
      seconds += std::max(0.0, models[i].seconds - finalists[i]->seconds);  // 0 if it diverged
      finalists[i]->model->trained = models[i].moments;
      finalists[i]->reached = stop;
      finalists[i]->seconds = models[i].seconds;
    }
    const auto count = static_cast<double>(models.size());
    if (seconds > 0) seconds_per_work_ = seconds / work;
    start_ = std::max(0.0, wall * std::min<double>(thread_count(), count) - seconds) / count;
  }

  void best_first() {
    std::ranges::stable_sort(finalists_, [](const Finalist& a, const Finalist& b) {
      if (a.reached != b.reached) return a.reached > b.reached;
      const auto loss = [](const Finalist& f) {
        return f.model->trained.empty() ? INFINITY : f.model->trained.back().bits_per_byte;
      };
      return loss(a) < loss(b);
    });
  }

  // With time left, those that were stopped go on, the best first.
  void use_rest(int64_t stop) {
    for (;;) {
      std::vector<Finalist*> models;
      double seconds = 0;
      for (Finalist& finalist : finalists_) {
        if (finalist.reached == stop) continue;
        const double work = finalist.work() * static_cast<double>(stop - finalist.reached);
        seconds = std::max(seconds, start_ + seconds_per_work_ * work);
        if (seconds > rest_ || models.size() == static_cast<size_t>(thread_count())) break;
        models.push_back(&finalist);
      }
      if (models.empty()) return;
      train(models, stop);
      best_first();
    }
  }

  const SearchRequest& request_;
  ShortTrainingObserver& observer_;
  const int64_t steps_;
  std::vector<Finalist> finalists_;  // the best first
  std::optional<Rounds> rounds_;
  double seconds_ = 0;  // for the whole training of the largest, with all threads
  double rest_ = 0;     // of the time
  // Of one thread: for an update of a parameter; as in TrainingPace.
  double seconds_per_work_ = 0, start_ = 0;
};

}  // namespace

fs::path finalists_folder(const fs::path& search) { return search / "finalists"; }

bool continue_finalist(const fs::path& recipe_file, const spec::Recipe& recipe, const fs::path& data,
                       const fs::path& run) {
  const fs::path begun = begun_training(recipe_file);
  if (begun.empty() || fs::exists(run)) return false;
  if (!fs::exists(begun / "config.json") || !fs::exists(begun / "checkpoints")) return false;
  Json before = store::read_json_object(begun / "config.json"), now = spec::to_json(recipe);
  // The text decides how many words there are.
  before["model"].erase("vocabulary"), now["model"].erase("vocabulary");
  const Json text = store::read_json_object(begun / "run.json").value("data", Json::object());
  if (before != now || text.value("path", "") != fs::absolute(data).string()) return false;
  fs::copy(begun, run, fs::copy_options::recursive);
  return true;
}

std::vector<Evaluated> promising(const SearchProblem& problem, size_t count) {
  std::vector<Evaluated> all = exact_best(problem);
  if (all.empty()) return all;
  const auto by_score = [](const Evaluated& a, const Evaluated& b) { return a.score > b.score; };
  std::ranges::stable_sort(all, by_score);
  for (size_t i = 0; i < problem.space.layer.size(); ++i) {
    const auto kind = static_cast<int64_t>(i);
    for (const bool only : {false, true}) {
      SearchProblem restricted = problem;
      restricted.allows = [&](int64_t, const spec::Layer& layer) { return (layer.kind == kind) == only; };
      const std::vector<Evaluated> found = exact_best(restricted);
      if (!found.empty()) all.push_back(*std::ranges::min_element(found, by_score));
    }
  }
  std::ranges::stable_sort(all, by_score);
  std::set<spec::Candidate> seen;
  std::erase_if(all, [&](const Evaluated& model) { return !seen.insert(model.candidate).second; });
  if (all.size() > count) all.resize(count);
  return all;
}

double usual_finalists(double seconds) { return std::clamp(seconds / 4, kLeastSeconds, kMostSeconds); }

double usual_fit(double seconds) {
  return seconds / 4 < kLeastToFit ? 0 : std::min(seconds / 4, WorthRequest().budget);
}

int64_t Halving::rounds() const { return models < 2 ? 0 : std::bit_width(models) - 1; }

Halving plan_halving(size_t candidates, int64_t steps, const TrainingPace& pace, double budget) {
  const int64_t least = std::min(kLeastUpdates, steps);
  for (Halving plan{candidates}; plan.models >= 2; --plan.models) {
    if (plan.models == 2 || next_stop(plan.models, plan.rounds(), 0, steps, pace, budget) >= least)
      return plan;
  }
  return {};
}

int64_t next_stop(size_t left, int64_t rounds, int64_t reached, int64_t steps, const TrainingPace& pace,
                  double budget) {
  const auto turns = static_cast<double>((left + pace.at_once - 1) / pace.at_once);
  // Half of the models begin the next round, and so on: less than twice as many begin in all.
  const double starts = (rounds > 1 ? 2 : 1) * turns * pace.start;
  const double updates = (budget - starts) / static_cast<double>(rounds) / turns / pace.update;
  const double rest = static_cast<double>(steps - reached);
  return reached + std::max<int64_t>(1, static_cast<int64_t>(std::min(updates, rest)));
}

void train_finalists(const SearchRequest& request, const std::vector<Evaluated>& candidates, double peak,
                     ShortTrainingObserver& observer, SearchResult& result) {
  if (const FoundModel* best = FinalistTraining(request, candidates, peak, observer, result).best())
    recommend(*best, request.objective, result);
}

}  // namespace heed::search
