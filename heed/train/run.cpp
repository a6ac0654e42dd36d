#include "heed/train/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/clock.h"
#include "heed/base/hash.h"
#include "heed/base/units.h"
#include "heed/store/json_file.h"
#include "heed/store/model_folder.h"
#include "heed/train/resuming.h"
#include "heed/train/run_progress.h"
#include "heed/train/tasks.h"
#include "heed/train/training.h"

namespace heed::train {
namespace {

using data::Split;
namespace fs = std::filesystem;

constexpr int64_t kPromptTokens = 32;  // of the valid part, which a sample continues
// Of metrics.jsonl: an evaluation because the run was stopped, which an undisturbed run does not make.
constexpr const char* kAtStop = "at_stop";
constexpr double kUpdateOverForward = 3;  // operations
// Updates until it is known how long they take, and how often that is asked again.
constexpr int64_t kUpdatesToDecide = 3;
constexpr double kShareToDecide = 0.05;

struct Durations {
  double seconds = 0;
  int64_t count = 0;
  void add(double more) { seconds += more, ++count; }
  double mean() const { return std::max(1e-9, seconds / static_cast<double>(count)); }
};

// Settings that do not change what has been learned so far. The others are part of it.
const std::vector<std::string> kMayChange = {
    "training.steps",           "training.learning_rate", "training.final_rate", "training.evaluate_every",
    "training.evaluate_tokens", "training.patience",      "evaluation"};
constexpr const char *kSteps = "training.steps",
                     *kRates[] = {"training.learning_rate", "training.final_rate"};

class Run {
 public:
  Run(const RunRequest& request, RunObserver& observer)
      : request_(request),
        observer_(observer),
        text_(
            store::RunKind::kTrain,
            request.more_steps > 0 ? with_more_steps(request.recipe, request.folder, request.more_steps)
                                   : request.recipe,
            request.data, request.folder, [&](const std::string& sentence) { observer.note(sentence); },
            request.shared),
        recipe_(text_.recipe()) {
    if (request.epochs > 0) {
      text_.train_for_epochs(request.epochs);
      observer.note(text(request.epochs, request.epochs == 1 ? " epoch is " : " epochs are ",
                         format_plural(recipe_.training.steps, "update")));
    }
    text_.open(spec::to_json(recipe_), request.record,
               {.upgrade = [&](const Json&) { return spec::to_json(recipe_of_run(request.folder)); },
                .may_change = kMayChange},
               [&] { prepare(); });
  }

  RunResult run() {
    const int64_t first = progress_.step;
    RunClock clock(first, request_.save_seconds);
    seconds_before_ = progress_.whole_seconds;
    if (request_.max_seconds > 0) time_left_ = request_.max_seconds - seconds_before_;
    bool stopped = false;
    if (progress_.owed) {
      stopped = !evaluate();
      if (!stopped) save();
    }
    while (!is_done() && !is_at_stop() && !stopped) {
      step();
      decide(clock);
      const int64_t every = evaluation_interval();
      const bool last = is_done() || is_at_stop();
      if (last || (every > 0 && progress_.step % every == 0)) stopped = !evaluate();
      stopped = stopped || (!last && is_patient() && observer_.stop());
      progress_.whole_seconds = seconds_before_ + clock.seconds();
      if (last || !is_patient() || stopped || clock.is_time_to_save()) {
        save();
        clock.saved();
      }
    }
    if (stopped || !is_done()) {
      if (request_.leaves_model && progress_.step > 0) leave_model();
      return result(false, first, clock);
    }
    if (!scorer_) save_model();  // without a valid part the last is the best
    return result(true, first, clock);
  }

 private:
  bool is_done() const {
    return progress_.step >= plan_->last() || progress_.has_no_time(recipe_.training.steps) || !is_patient();
  }
  bool is_at_stop() const { return request_.stop_after > 0 && progress_.step >= request_.stop_after; }

  // With a time: how fast the schedule must run to end with it. Corrected now and then, and written into
  // every checkpoint.
  void decide(const RunClock& clock) {
    // A plan of an earlier call holds without a time as well.
    if (!progress_.plan.is_null() && progress_.step >= plan_->last()) end_time();
    if (request_.max_seconds == 0) return;
    const double used = seconds_before_ + clock.seconds(), rest = request_.max_seconds - used;
    time_left_ = std::max(rest, seconds_of_evaluation());
    if (rest <= 0) end_time();
    if (rest <= 0 || updates_.count < kUpdatesToDecide) return;
    if (used < decide_at_ && progress_.step < decide_at_step_) return;
    // An update and its share of the evaluations, the last of which is extra.
    const int64_t every = evaluation_interval();
    const double evaluation = seconds_of_evaluation(),
                 update = updates_.mean() + (every > 0 ? evaluation / static_cast<double>(every) : 0);
    plan_->decide(progress_.step, (rest - evaluation) / update);
    progress_.plan = plan_->to_json();
    // By updates as well: the first ones may be so much slower that all that were planned take less than that
    // time.
    decide_at_ = used + kShareToDecide * request_.max_seconds;
    const auto left = static_cast<double>(plan_->last() - progress_.step);
    decide_at_step_ = progress_.step + 1 + static_cast<int64_t>(kShareToDecide * left);
  }

  void end_time() { progress_.steps_at_end_of_time = recipe_.training.steps; }

  // Everything that may still throw: the sizes, the checkpoint.
  void prepare() {
    observer_.begins(recipe_);
    const Task& task = task_of(recipe_.model, recipe_.training);
    trainer_ = std::make_unique<Trainer>(recipe_.model, recipe_.training, variables_);
    batch_ = text_.batches().find(trainer_->batch());
    if (text_.tokens().corpus.has(Split::kValid)) {
      valid_ = &text_.tokens().stream(Split::kValid);
      // `heed eval` uses the recipe's own protocol.
      const spec::EvaluationSpec protocol = held_out_protocol(recipe_.training, *valid_);
      scorer_ = std::make_unique<Scorer>(task, recipe_.model, protocol, variables_.parameters,
                                         model::WeightForm::kPlain);
      valid_batches_ = task.scoring_batches(protocol, text_.tokens(), Split::kValid);
    }
    resume();
  }

  store::Tensors parameters() const { return tensors_of(*variables_.parameters, trainer_->parameters()); }
  store::Tensors states() const { return tensors_of(variables_.states, trainer_->states()); }

  void resume() {
    const auto resumed = load_latest(text_.folder().checkpoints(), parameters(), states(),
                                     [&](const std::string& sentence) { observer_.note(sentence); });
    if (resumed) {
      progress_ = from_json<Progress>(resumed->progress, resumed->path.string());
      check_initial();
      observer_.note(text("resuming from step ", progress_.step));
    } else if (request_.initial_weights) {
      for (const auto& [name, tensor] : parameters()) request_.initial_weights(name, tensor);
    }
    note_changes();
    plan_ = progress_.plan_of(recipe_.training.steps, resumed ? resumed->path.string() : "");
    progress_.plan = plan_->to_json();
    text_.folder().metrics().cut_after(progress_.step);
    text_.folder().metrics().cut_from([](const Json& line) { return line.contains(kAtStop); });
    forget_model_of_stop();
    // A pending evaluation may have been made after this checkpoint, and then been lost.
    if (progress_.owed)
      text_.folder().metrics().cut_from([&](const Json& line) {
        return line.contains("valid") && line.value("step", int64_t{0}) == progress_.step;
      });
    const auto samples = request_.folder / "samples.jsonl";
    if (request_.sample || fs::exists(samples)) samples_.emplace(samples);
    if (samples_) samples_->cut_after(progress_.owed ? progress_.step - 1 : progress_.step);
  }

  void check_initial() {
    const Json before = text_.folder().record().value("init", Json()),
               now = request_.record.value("init", Json());
    if (before == now) return;
    throw usage_error(request_.folder.string(), ": the run started from ",
                      before.is_null() ? "fresh weights" : before.dump(), ", not from ",
                      now.is_null() ? "fresh weights" : now.dump(),
                      "; give the same --init, or use another folder");
  }

  void note_changes() {
    bool other_rates = false;
    for (const store::ChangedSetting& setting : text_.folder().changed()) {
      // Of a schedule that a time has shaped, more than its updates is gone.
      const bool shaped = !progress_.plan.is_null() && progress_.steps_at_end_of_time == 0;
      if (setting.name == kSteps &&
          (setting.now < progress_.step || (shaped && setting.now < setting.before)))
        throw usage_error("train: ", request_.folder.string(), " has already made ", progress_.step, " of ",
                          setting.before.dump(), " steps, and ", setting.now.dump(),
                          " were asked for; ask for more, or use another folder to start over");
      observer_.note(text(setting.name, " changes from ", setting.before.dump(), " to ", setting.now.dump()));
      other_rates = other_rates || setting.name == kSteps || std::ranges::count(kRates, setting.name) > 0;
    }
    if (other_rates)
      observer_.note(
          "warning: the learning rate now differs from that of a run with these settings from the start");
  }

  // Of one, by the time of those made; at first, by that of the updates, which run backward as well.
  double seconds_of_evaluation() const {
    if (!scorer_) return 0;
    return evaluations_.count > 0 ? evaluations_.mean() : updates_.mean() * updates_in_evaluation();
  }

  // How many updates are as much work as an evaluation.
  double updates_in_evaluation() const {
    if (!scorer_) return 0;
    const spec::TrainingSpec& training = recipe_.training;
    const int64_t tokens =
        training.evaluate_tokens > 0 ? std::min(training.evaluate_tokens, valid_->size()) : valid_->size();
    return static_cast<double>(tokens) / static_cast<double>(training.batch * training.length) /
           kUpdateOverForward;
  }

  // Updates between evaluations; 0 for only at the end.
  int64_t evaluation_interval() const {
    const int64_t given = recipe_.training.evaluate_every;
    return given >= 0 ? given : usual_interval(plan_->last(), updates_in_evaluation());
  }

  double seconds_left() const {
    const int64_t last = plan_->last(), every = evaluation_interval();
    int64_t evaluations = 1;  // the last one
    if (every > 0) evaluations += (last - 1) / every - progress_.step / every;
    return static_cast<double>(last - progress_.step) * updates_.mean() +
           static_cast<double>(evaluations) * seconds_of_evaluation();
  }

  void step() {
    const spec::TrainingSpec& training = recipe_.training;
    const int64_t index = progress_.step, seen = seen_before(training, text_.batches(), index);
    const double step_begin = now_seconds();
    const StepResult result =
        trainer_->step_at(plan_->position(index + 1), index + 1, seen,
                          [&](int64_t chunk, const Batch&) { text_.batches().fill(index, chunk, batch_); });
    progress_.step = index + 1;
    const double seconds = now_seconds() - step_begin;
    progress_.seconds += seconds;
    updates_.add(seconds);
    progress_.loss.add(
        index, result.loss,
        text("Try a smaller learning rate (now ", result.learning_rate, ") or a longer warm-up"));
    const double rate = 1 / updates_.mean();
    StepReport report{progress_.step, plan_->last(), result.loss, result.gradient_norm, result.learning_rate};
    report.tokens_per_second = rate * static_cast<double>(training.batch * training.length);
    report.flops_per_second = rate * trainer_->flops();
    report.seconds_left = std::min(seconds_left(), time_left_);
    observer_.step(report);
    text_.folder().metrics().append({{"step", progress_.step},
                                     {"loss", result.loss},
                                     {"norm", result.gradient_norm},
                                     {"rate", result.learning_rate},
                                     {"tokens", progress_.step * training.batch * training.length},
                                     {"seconds", progress_.seconds},
                                     {"tokens_per_second", std::round(report.tokens_per_second)}});
  }

  // False if it was interrupted: it may take long, and is repeated when the run resumes.
  bool evaluate() {
    progress_.owed = false;
    if (!scorer_) return true;
    const double begin = now_seconds();
    const Score score = scorer_->run(*valid_batches_, recipe_.training.evaluate_tokens, [&](int64_t) {
      progress_.owed = observer_.stop();
      return !progress_.owed;
    });
    if (progress_.owed) return false;
    evaluations_.add(now_seconds() - begin);
    const Metric& deciding = score.metrics.front();
    const bool best = progress_.best_step == 0 || deciding.is_better_than(progress_.best);
    if (best) {
      progress_.best = deciding.value, progress_.best_step = progress_.step, progress_.without_best = 0;
      save_model();
    } else {
      ++progress_.without_best;
    }
    observer_.evaluated(progress_.step, score, valid_text(), best);
    if (best && request_.sample) sample();
    log_evaluation(score, best);
    evaluated_ = progress_.step;
    return true;
  }

  // Everything is saved. Evaluates, unless the last step was, and saves the model if it is the best so far.
  // What an undisturbed run would have in its place is kept aside until the run resumes.
  void leave_model() {
    const bool first = progress_.best_step == 0;
    if (!scorer_ || progress_.owed) {
      if (first) save_model();
      return;
    }
    if (evaluated_ == progress_.step) return;
    const Score score =
        scorer_->run(*valid_batches_, recipe_.training.evaluate_tokens, [](int64_t) { return true; });
    const bool best = first || score.metrics.front().is_better_than(progress_.best);
    if (best) {
      if (!first) fs::rename(model_folder(), aside());
      save_model();
    }
    observer_.evaluated(progress_.step, score, valid_text(), best);
    log_evaluation(score, best, {{kAtStop, true}});
  }

  void forget_model_of_stop() const {
    if (!fs::exists(aside())) return;
    fs::remove_all(model_folder());
    fs::rename(aside(), model_folder());
  }

  fs::path model_folder() const { return request_.folder / "model"; }
  fs::path aside() const { return request_.folder / "model.before-stop"; }

  void log_evaluation(const Score& score, bool best, Json line = Json::object()) {
    Json valid = {{"tokens", score.tokens}, {"best", best}};
    for (const Metric& metric : score.metrics) valid[metric.name] = metric.value;
    line.update({{"step", progress_.step}, {"seconds", progress_.seconds}, {"valid", valid}});
    text_.folder().metrics().append(line);
  }

  // From the same prompt each time, so that samples can be compared.
  void sample() {
    std::vector<int32_t> tokens(static_cast<size_t>(std::min(kPromptTokens, valid_->size())));
    valid_->copy(0, static_cast<int64_t>(tokens.size()), tokens.data());
    try {
      samples_->append({{"step", progress_.step}, {"text", request_.sample(model_folder(), tokens)}});
    } catch (const Error& error) {  // not a reason to stop the training
      observer_.note(text("no sample of step ", progress_.step, ": ", error.what()));
    }
  }

  data::TextCounts valid_text() const { return valid_ ? valid_->counts() : data::TextCounts(); }

  bool is_patient() const {
    return recipe_.training.patience == 0 || progress_.without_best < recipe_.training.patience;
  }

  void save() {
    text_.folder().check_in_place();
    text_.folder().metrics().sync();
    if (samples_) samples_->sync();
    store::save_checkpoint(text_.folder().checkpoints(), progress_.step, parameters(), states(),
                           to_json(progress_));
  }

  void save_model() {
    text_.folder().check_in_place();
    const data::Tokenizer& tokenizer = *text_.tokens().tokenizer;
    store::save_model_folder(model_folder(), recipe_, parameters(), tokenizer.to_json(),
                             hash_name(tokenizer.hash()), request_.save_dtype);
  }

  RunResult result(bool finished, int64_t first, const RunClock& clock) const {
    return {first,           progress_.step, finished, progress_.best, progress_.best_step,
            clock.seconds(), valid_text()};
  }

  const RunRequest& request_;
  RunObserver& observer_;
  TextRun text_;
  const spec::Recipe& recipe_;
  std::optional<store::LineLog> samples_;
  const data::TokenStream* valid_ = nullptr;
  std::unique_ptr<data::Batches> valid_batches_;
  graph::Variables variables_;
  std::unique_ptr<Trainer> trainer_;
  data::BatchSpans batch_;  // what the trainer reads
  std::unique_ptr<Scorer> scorer_;
  Progress progress_;
  std::optional<TimePlan> plan_;
  double seconds_before_ = 0, decide_at_ = 0;  // of the time
  double time_left_ = std::numeric_limits<double>::infinity();
  int64_t decide_at_step_ = 0;
  // In this call.
  Durations updates_, evaluations_;
  int64_t evaluated_ = -1;  // the last step that was
};

}  // namespace

int64_t usual_interval(int64_t steps, double updates_in_evaluation) {
  constexpr double kEvaluations = 20, kMost = 1000, kUpdatesOverEvaluation = 10;
  const double least = std::max(std::min(kMost, static_cast<double>(steps) / kEvaluations),
                                kUpdatesOverEvaluation * updates_in_evaluation);
  int64_t power = 1;
  while (static_cast<double>(10 * power) <= least) power *= 10;
  for (const int64_t digit : {1, 2, 5}) {
    if (static_cast<double>(digit * power) >= least) return digit * power;
  }
  return 10 * power;
}

bool counts_bits(const spec::DataSpec& spec) { return data::tokenizers().find(spec.tokenizer).symbols; }

RunResult run_training(const RunRequest& request, RunObserver& observer) {
  return Run(request, observer).run();
}

}  // namespace heed::train
