#include "heed/train/run.h"

#include <algorithm>
#include <cmath>

#include "heed/base/clock.h"
#include "heed/base/units.h"
#include "heed/store/json_file.h"
#include "heed/store/model_folder.h"
#include "heed/train/resuming.h"
#include "heed/train/run_text.h"
#include "heed/train/training.h"

namespace heed::train {
namespace {

using data::Split;

constexpr int64_t kPromptTokens = 32;  // of the valid part, that a sample goes on from

// What a run has to remember besides weights and states.
struct Progress {
  int64_t step = 0;
  LossAverage loss;
  double best = 0;  // on the valid part
  int64_t best_step = 0;
  int64_t without_best = 0;  // evaluations since then
  double seconds = 0;        // spent in steps
  bool owed = false;         // the evaluation of this step was interrupted
  template <class Visitor>
  void visit(Visitor&& field) {
    field("step", step, "updates made");
    field("average", loss.average, "of the loss over the last steps");
    field("lowest", loss.lowest, "that the average has been");
    field("best", best, "nats per token on the valid part");
    field("best_step", best_step, "when that was");
    field("without_best", without_best, "evaluations since then");
    field("seconds", seconds, "spent in steps");
    field("owed", owed, "the evaluation of this step was interrupted");
  }
};

class Run {
 public:
  Run(const RunRequest& request, RunObserver& observer)
      : request_(request),
        observer_(observer),
        recipe_(request.recipe),
        tokens_(open_run_text(recipe_, request.data, request.folder,
                              [&](const std::string& sentence) { observer.note(sentence); })) {
    Json record = request.record;
    record["data"] = text_record(tokens_, request.data);
    folder_ = std::make_unique<store::RunFolder>(
        request.folder, spec::to_json(recipe_), record, [&](const Json& before) {
          return spec::to_json(spec::read_recipe(before, (request.folder / "config.json").string()));
        });
    try {
      prepare(record);
    } catch (const Error&) {
      folder_->take_back();
      throw;
    }
  }

  RunResult run() {
    const double begin = now_seconds();
    double saved = begin;
    const int64_t first = progress_.step, steps = recipe_.training.steps;
    bool stopped = false;
    if (progress_.owed) {
      stopped = !evaluate();
      if (!stopped) save();
    }
    while (progress_.step < steps && is_patient() && !stopped) {
      step(begin, first);
      const int64_t every = recipe_.training.evaluate_every;
      const bool last = progress_.step == steps;
      if (last || (every > 0 && progress_.step % every == 0)) stopped = !evaluate();
      const double now = now_seconds();
      const bool late = request_.max_seconds > 0 && now - begin > request_.max_seconds;
      stopped = stopped || (!last && is_patient() && (late || observer_.stop()));
      if (last || !is_patient() || stopped || now - saved > request_.save_seconds) {
        save();
        saved = now_seconds();
      }
    }
    if (stopped) return result(false, first, begin);
    if (!scorer_) save_model();  // without a valid part the last is the best
    return result(true, first, begin);
  }

 private:
  // Everything that may still be refused: the text, the sizes, the checkpoint.
  void prepare(const Json& record) {
    check_text(*folder_, record["data"]);
    store::write_json_object(request_.folder / "tokenizer.json", tokens_.tokenizer->to_json());
    train_ = std::make_unique<data::TokenStream>(tokens_.stream(Split::kTrain));
    batches_ = training_batches(recipe_, *train_);
    trainer_ = std::make_unique<Trainer>(recipe_.model, recipe_.training, variables_);
    if (tokens_.corpus.has(Split::kValid)) {
      valid_ = std::make_unique<data::TokenStream>(tokens_.stream(Split::kValid));
      // `heed eval` judges by the recipe's own protocol.
      const spec::EvaluationSpec protocol = held_out_protocol(recipe_.training, *valid_);
      scorer_ = std::make_unique<Scorer>(recipe_.model, protocol, variables_, false);
      valid_batches_ = scoring_batches(protocol, *valid_);
    }
    resume();
  }

  store::Tensors parameters() const { return tensors_of(variables_, trainer_->parameters()); }
  store::Tensors states() const { return tensors_of(variables_, trainer_->states()); }

  void resume() {
    const auto resumed = load_latest(folder_->checkpoints(), parameters(), states(),
                                     [&](const std::string& sentence) { observer_.note(sentence); });
    if (resumed) {
      progress_ = from_json<Progress>(resumed->progress, resumed->path.string());
      observer_.note(text("going on from step ", progress_.step));
    }
    folder_->metrics().cut_after(progress_.step);
    // An evaluation that is still owed may have been made after this checkpoint, and then been lost.
    if (progress_.owed)
      folder_->metrics().cut_from([&](const Json& line) {
        return line.contains("valid") && line.value("step", int64_t{0}) == progress_.step;
      });
    const auto samples = request_.folder / "samples.jsonl";
    if (request_.sample || std::filesystem::exists(samples)) samples_.emplace(samples);
    if (samples_) samples_->cut_after(progress_.owed ? progress_.step - 1 : progress_.step);
  }

  void step(double begin, int64_t first) {
    const spec::TrainingSpec& training = recipe_.training;
    const int64_t index = progress_.step, seen = seen_before(training, *batches_, index);
    const double step_begin = now_seconds();
    const StepResult result = trainer_->step(
        index + 1, seen, [&](int64_t chunk, std::span<int32_t> tokens, std::span<int32_t> targets) {
          batches_->fill(index, chunk, tokens, targets);
        });
    progress_.step = index + 1;
    progress_.seconds += now_seconds() - step_begin;
    progress_.loss.add(
        index, result.loss,
        text("Try a smaller learning rate (now ", result.learning_rate, ") or a longer warm-up"));
    const double seconds = std::max(1e-9, now_seconds() - begin),
                 rate = static_cast<double>(progress_.step - first) / seconds;
    StepReport report{progress_.step, training.steps, progress_.loss.average, result.gradient_norm,
                      result.learning_rate};
    report.tokens_per_second = rate * static_cast<double>(training.batch * training.length);
    report.flops_per_second = rate * trainer_->flops();
    report.seconds_left = static_cast<double>(training.steps - progress_.step) / rate;
    observer_.step(report);
    folder_->metrics().append({{"step", progress_.step},
                               {"loss", result.loss},
                               {"norm", result.gradient_norm},
                               {"rate", result.learning_rate},
                               {"tokens", progress_.step * training.batch * training.length},
                               {"seconds", progress_.seconds},
                               {"tokens_per_second", std::round(report.tokens_per_second)}});
  }

  // False when it was interrupted: it may take long, and is then done again when the run goes on.
  bool evaluate() {
    progress_.owed = false;
    if (!scorer_) return true;
    const Score score = scorer_->run(*valid_batches_, recipe_.training.evaluate_tokens, [&](int64_t) {
      progress_.owed = observer_.stop();
      return !progress_.owed;
    });
    if (progress_.owed) return false;
    const bool best = progress_.best_step == 0 || score.mean() < progress_.best;
    if (best) {
      progress_.best = score.mean(), progress_.best_step = progress_.step, progress_.without_best = 0;
      save_model();
    } else {
      ++progress_.without_best;
    }
    observer_.evaluated(progress_.step, score, bytes_per_token(), best);
    if (best && request_.sample) sample();
    folder_->metrics().append(
        {{"step", progress_.step},
         {"seconds", progress_.seconds},
         {"valid", {{"loss", score.mean()}, {"tokens", score.tokens}, {"best", best}}}});
    return true;
  }

  // From the same words each time, so that what follows can be compared.
  void sample() {
    std::vector<int32_t> tokens(static_cast<size_t>(std::min(kPromptTokens, valid_->size())));
    valid_->copy(0, static_cast<int64_t>(tokens.size()), tokens.data());
    try {
      samples_->append(
          {{"step", progress_.step}, {"text", request_.sample(request_.folder / "model", tokens)}});
    } catch (const Error& error) {  // no reason to lose a training
      observer_.note(text("no sample of step ", progress_.step, ": ", error.what()));
    }
  }

  double bytes_per_token() const {
    return valid_ ? static_cast<double>(valid_->text_bytes()) / static_cast<double>(valid_->size()) : 0;
  }

  bool is_patient() const {
    return recipe_.training.patience == 0 || progress_.without_best < recipe_.training.patience;
  }

  void save() {
    folder_->check_in_place();
    folder_->metrics().sync();
    if (samples_) samples_->sync();
    store::save_checkpoint(folder_->checkpoints(), progress_.step, parameters(), states(),
                           to_json(progress_));
  }

  void save_model() {
    folder_->check_in_place();
    store::save_model_folder(request_.folder / "model", recipe_, parameters(), tokens_.tokenizer->to_json());
  }

  RunResult result(bool finished, int64_t first, double begin) const {
    return {first,
            progress_.step,
            finished,
            progress_.best,
            progress_.best_step,
            now_seconds() - begin,
            bytes_per_token()};
  }

  const RunRequest& request_;
  RunObserver& observer_;
  spec::Recipe recipe_;
  CorpusTokens tokens_;
  std::unique_ptr<store::RunFolder> folder_;
  std::optional<store::LineLog> samples_;
  std::unique_ptr<data::TokenStream> train_, valid_;
  std::unique_ptr<data::Batches> batches_, valid_batches_;
  graph::Variables variables_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Scorer> scorer_;
  Progress progress_;
};

}  // namespace

bool counts_bits(const spec::DataSpec& data) {
  return data.tokenizer == "bytes" || data.tokenizer == "characters";
}

RunResult run_training(const RunRequest& request, RunObserver& observer) {
  return Run(request, observer).run();
}

}  // namespace heed::train
