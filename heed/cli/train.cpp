#include "heed/cli/train.h"

#include <cstdio>
#include <filesystem>

#include "heed/base/process.h"
#include "heed/base/units.h"
#include "heed/cli/loss_units.h"
#include "heed/cli/recipe_flags.h"
#include "heed/cli/run_record.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/subject.h"
#include "heed/cli/terminal_observer.h"
#include "heed/data/tokenizer.h"
#include "heed/infer/writer.h"
#include "heed/measure/timing.h"
#include "heed/model/model.h"
#include "heed/search/finalists.h"
#include "heed/store/model_folder.h"
#include "heed/train/corpus_tokens.h"
#include "heed/train/resuming.h"
#include "heed/train/run.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

class Observer : public TerminalObserver<train::RunObserver> {
 public:
  // `state`: of the recipe that is trained; may throw.
  Observer(bool bits, double peak, std::function<void(const spec::Recipe&)> state)
      : bits_(bits), peak_(peak), state_(std::move(state)) {}

  void begins(const spec::Recipe& recipe) override { state_(recipe); }

  void step(const train::StepReport& r) override {
    char line[240];
    std::snprintf(
        line, sizeof line,
        "step %lld/%lld  loss %.4f  %s  norm %.2f  rate %.2e  %.0f tokens/s  %.0f%% of peak  ETA %s",
        static_cast<long long>(r.step), static_cast<long long>(r.steps), r.loss,
        format_loss(r.loss, bits_).c_str(), r.gradient_norm, r.learning_rate, r.tokens_per_second,
        100 * r.flops_per_second / peak_, format_seconds(r.seconds_left).c_str());
    line_.show(line, r.step == r.steps);
  }

  void evaluated(int64_t step, const train::Score& score, const data::TextCounts& counts,
                 bool best) override {
    line_.say(text("step ", step, ": valid ", format_loss(score.mean(), bits_, counts), " over ",
                   score.tokens, " tokens", best ? ", the best so far" : ""));
  }

 private:
  bool bits_;
  double peak_;
  std::function<void(const spec::Recipe&)> state_;
};

class Train : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("recipe", name_, "name of a recipe or a file; default: the recipe of the --init model",
                     false);
    flags.path("data", data_, "a text file or a folder of them");
    flags.path("o,out", out_, "folder of the run; rerun the same command to resume");
    flags.path("init", init_, "start from the weights of this model, with its vocabulary");
    flags.option("max-steps", max_steps_, "number of steps; the same as --steps");
    flags.option("more-steps", more_steps_, "train a finished run for this many more steps");
    flags.option("tokens", tokens_, "number of training tokens, such as 3M, instead of --steps");
    flags.option("epochs", epochs_, "number of passes over the training text, instead of --steps");
    flags.seconds("max-time", max_time_,
                  "time limit, such as 90s, 5m or 1h; the learning rate schedule is fitted to it");
    flags.seconds("save-seconds", save_seconds_, "time between checkpoints");
    recipe_flags_.declare(flags);
    flags.option("save-dtype", save_dtype_,
                 "data type of the saved weights: f32, f16 or bf16; checkpoints are always f32");
    flags.option("samples", samples_,
                 "tokens to generate, into samples.jsonl, whenever the validation score improves; 0: none");
    flags.flag("dry-run", dry_run_, "print parameters, memory and estimated time, then exit");
    flags.flag("json", json_, "print JSON");
    training_.declare(flags);
  }

  void run() override {
    if (name_.empty() && init_.empty())
      throw usage_error(
          "train: give a recipe, or the weights of a model to start from with --init MODEL; `heed recipes` "
          "lists them");
    train::RunRequest request;
    std::optional<Subject> initial;
    if (!init_.empty()) initial = load_trained(init_);
    request.recipe = recipe(initial ? &*initial : nullptr);
    request.save_dtype = save_dtype();
    if (!dry_run_ && data_.empty()) throw usage_error("train: give a text to learn from with --data PATH");
    if (!dry_run_ && out_.empty()) throw usage_error("train: give a folder for the run with -o FOLDER");
    request.max_seconds = max_time_.value_or(0);
    peak_ = measure::peak_flops();
    if (dry_run_) return state(known_before(request.recipe));
    request.more_steps = more_steps_.value_or(0);
    request.epochs = epochs_.value_or(0);
    request.data = data_;
    request.folder = out_;
    request.save_seconds = save_seconds_;
    request.record = run_record();
    request.record["seed"] = request.recipe.training.seed;
    if (initial) start_from(*initial, request);
    if (samples_ > 0)
      request.sample = [this](const auto& model, const auto& tokens) { return sample(model, tokens); };
    if (!initial && !epochs_ && search::continue_finalist(name_, request.recipe, data_, out_))
      std::fprintf(stderr, "the search has partly trained this model; its training continues in %s\n",
                   out_.c_str());
    const StopSignals signals;
    const bool bits = train::counts_bits(request.recipe.data);
    train::RunResult result;
    {
      Observer observer(bits, peak_, [this](const spec::Recipe& recipe) { state(recipe); });
      result = train::run_training(request, observer);
    }
    print(result, bits);
    if (!result.finished && StopSignals::asked()) throw train::interrupted_run();
  }

 private:
  static constexpr double kMostEpochs = 1e6;

  void print(const train::RunResult& result, bool bits) const {
    if (json_) {
      Json json = {{"model", nullptr},
                   {"finished", result.finished},
                   {"steps", result.step},
                   {"steps_before", result.first},
                   {"seconds", result.seconds},
                   {"best_step", result.best_step},
                   {"best_nats_per_token", nullptr},
                   {"best_bits_per_byte", nullptr},
                   {"unknown_share", nullptr}};
      if (has_model()) json["model"] = out_ + "/model";
      if (result.best_step > 0) {
        json["best_nats_per_token"] = result.best;
        json["unknown_share"] = result.text.unknown_share();
        if (const auto per_byte = result.text.bits_per_byte(result.best))
          json["best_bits_per_byte"] = *per_byte;
      }
      std::printf("%s\n", json.dump(2).c_str());
      return;
    }
    if (result.finished && result.step == result.first) {
      std::printf("already trained for %s", format_plural(result.step, "step").c_str());
    } else {
      std::printf("%s %s%s in %s", result.finished ? "trained" : "stopped after",
                  format_plural(result.step, "step").c_str(),
                  result.first > 0 ? text(", the last ", result.step - result.first).c_str() : "",
                  format_seconds(result.seconds).c_str());
    }
    if (result.best_step > 0)
      std::printf("; best validation score: %s at step %lld", format_loss(result.best, bits).c_str(),
                  static_cast<long long>(result.best_step));
    if (has_model()) {
      std::printf("; model in %s/model\n", out_.c_str());
    } else {
      std::printf("; no model yet\n");
    }
  }

  bool has_model() const { return std::filesystem::exists(std::filesystem::path(out_) / "model"); }

  spec::Recipe recipe(const Subject* initial) const {
    std::vector<std::string> lengths;
    for (const std::string& field : training_.given()) {
      recipe_flags_.refuse_both(flag_name(field), "training");
      if (field == "steps") lengths.push_back("--steps");
    }
    if (recipe_flags_.sets("training.steps")) lengths.push_back("--set training.steps");
    if (max_steps_) lengths.push_back("--max-steps");
    if (more_steps_) lengths.push_back("--more-steps");
    if (tokens_) lengths.push_back("--tokens");
    if (epochs_) lengths.push_back("--epochs");
    if (more_steps_ && max_time_) lengths.push_back("--max-time");
    if (lengths.size() > 1)
      throw usage_error("train: ", lengths[0], " and ", lengths[1],
                        " both set the length of the run; give one of them");
    if (epochs_ && !(*epochs_ > 0 && *epochs_ <= kMostEpochs))
      throw usage_error("train: --epochs is ", *epochs_, "; it must be above 0 and at most ", kMostEpochs);
    if (epochs_ && dry_run_)
      throw usage_error(
          "train: --epochs needs the tokens of the text, which --dry-run does not make; give --tokens");
    if (initial && recipe_flags_.changes_vocabulary())
      throw usage_error("train: a model that starts from ", init_,
                        " has its vocabulary; leave out --tokenizer and --vocabulary");
    spec::Recipe recipe = recipe_flags_.over(name_.empty() ? initial->recipe : spec::load_recipe(name_));
    recipe.training = training_.over(recipe.training, "train");
    if (max_steps_) recipe.training.steps = *max_steps_;
    validate(recipe.training);
    if (tokens_) {
      const int64_t per_step = recipe.training.batch * recipe.training.length;
      if (*tokens_ < per_step)
        throw usage_error("train: --tokens is ", *tokens_, ", and one update has ", recipe.training.batch,
                          " x ", recipe.training.length, " = ", per_step,
                          " tokens; give at least that many, or a smaller --batch or --length");
      recipe.training.steps = *tokens_ / per_step + (*tokens_ % per_step != 0);
    }
    return recipe;
  }

  // The recipe as far as it is known before it is trained: with a text, the vocabulary that this has.
  spec::Recipe known_before(spec::Recipe recipe) const {
    if (data_.empty() || !init_.empty())
      return recipe_flags_.with_vocabulary(std::move(recipe), "train",
                                           "--vocabulary, or the text with --data");
    recipe.model.embedding.vocabulary = train::open_tokens(recipe.data, data_, "", "").tokenizer->size();
    return recipe;
  }

  void start_from(const Subject& initial, train::RunRequest& request) const {
    request.shared.tokenizer = initial.folder->tokenizer_path() / "tokenizer.json";
    request.initial_weights = source_of(*initial.folder);
    request.record["init"] = std::filesystem::absolute(init_).lexically_normal().string();
  }

  DType save_dtype() const {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16})
      if (save_dtype_ == name_of(dtype)) return dtype;
    throw usage_error("train: --save-dtype is '", save_dtype_, "'; give f32, f16 or bf16");
  }

  // The prompt and its continuation. It needs the weights a second time, and is left out if they do not fit.
  std::string sample(const std::filesystem::path& path, const std::vector<int32_t>& prompt) const {
    const store::ModelFolder model(path);
    const int64_t needed = 8 * model::count_parameters(model.recipe().model).total;
    if (needed > available_memory())
      throw system_error(format_bytes(needed), " are needed for it, ", format_bytes(available_memory()),
                         " are free");
    const auto tokenizer = data::load_tokenizer(path);
    infer::Session session(model.recipe().model, {infer::usual_memory(model.recipe())}, source_of(model));
    infer::Sampler sampler({.temperature = 0.8});
    infer::Writer writer(session, sampler, *tokenizer, prompt);
    std::string all = tokenizer->decode(prompt);
    while (writer.written() < samples_) all += writer.next(true).value_or("");
    return all + writer.finish();
  }

  // The cost of the run. Throws if it does not fit into memory.
  void state(const spec::Recipe& recipe) {
    const auto built = train::build_training_graph(recipe.model, recipe.training);
    const int64_t memory = built.memory().peak(), parameters = model::count_parameters(recipe.model).total;
    const spec::TrainingSpec& t = recipe.training;
    const double seconds = built.flops() * static_cast<double>(t.steps) / peak_;
    if (dry_run_ && json_) {
      const Json json = {{"parameters", parameters},
                         {"steps", t.steps},
                         {"flops_per_step", built.flops()},
                         {"memory_bytes", memory},
                         {"seconds", seconds},
                         {"available_bytes", train::available_for_training()}};
      std::printf("%s\n", json.dump(2).c_str());
    } else {
      std::fprintf(
          dry_run_ ? stdout : stderr,
          "%s: %s parameters; %s of %lld x %lld tokens, memory %lld: %s each, %s of memory, "
          "at least %s in total\n",
          (name_.empty() ? init_ : name_).c_str(), format_count(static_cast<double>(parameters)).c_str(),
          format_plural(t.steps, "step").c_str(), static_cast<long long>(t.batch),
          static_cast<long long>(t.length), static_cast<long long>(t.memory),
          format_flops(built.flops()).c_str(), format_bytes(memory).c_str(), format_seconds(seconds).c_str());
    }
    if (memory > train::available_for_training())
      throw system_error("train: ", format_bytes(memory), " are needed, ",
                         format_bytes(train::available_for_training()),
                         " are free; choose a smaller --batch or --length, or more --chunks");
  }

  std::string name_, data_, out_, init_, save_dtype_ = "f32";
  std::optional<int64_t> max_steps_, more_steps_, tokens_;
  std::optional<double> max_time_, epochs_;
  double save_seconds_ = 120;
  int64_t samples_ = 100;
  double peak_ = 1;
  bool dry_run_ = false, json_ = false;
  RecipeFlags recipe_flags_;
  SettingsFlags<spec::TrainingSpec> training_;
};

}  // namespace

VerbEntry train_verb() {
  return entry<Train>(
      "train", "Trains a model on a text. Rerun the same command to resume an interrupted run.",
      {"heed train par-3m-bytes --data book.txt -o run --tokens 3M",
       "heed train found/pick --data book.txt -o run --max-time 1h",
       "heed train --init run --data letters.txt -o tuned --learning-rate 1e-4",
       "heed train found/pick --data book.txt -o run --more-steps 500", "heed train txl-3m-bytes --dry-run"});
}

}  // namespace heed::cli
