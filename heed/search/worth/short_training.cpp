#include "heed/search/worth/short_training.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numbers>
#include <thread>

#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/store/json_file.h"
#include "heed/train/training.h"

namespace heed::search {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsBetweenReports = 0.2;

// Any model with this vocabulary.
spec::Recipe recipe_of(const spec::Space& space, int64_t vocabulary) {
  return space.recipe_of({{space.width.front(), 0, 1, vocabulary}, {}});
}

train::CorpusTokens shared_tokens(const spec::Recipe& recipe, const fs::path& data, const fs::path& folder) {
  const train::SharedText shared = share_text(recipe, data, folder);
  return train::open_tokens(recipe.data, data, shared.tokenizer, shared.cache);
}

// The evaluations of a finished run, and its time.
void read_metrics(const fs::path& folder, ShortTraining& model) {
  model.moments.clear();
  for (const Json& line : store::read_lines(folder / "metrics.jsonl")) {
    // A run that has gone further before looks as it did then.
    if (model.stop_after > 0 && line.at("step").get<int64_t>() > model.stop_after) break;
    model.seconds = line.value("seconds", 0.0);
    if (!line.contains("valid")) continue;
    model.moments.push_back(
        {line.at("step").get<int64_t>() * tokens_per_update(model.recipe.training),
         line["valid"].at("loss").get<double>() / std::numbers::ln2 / model.text.bytes_per_token()});
  }
}

class ShortTrainings {
 public:
  ShortTrainings(std::vector<ShortTraining>& models, const fs::path& data, const fs::path& folder,
                 const Json& record, const std::function<bool(const ShortTraining&)>& wants)
      : models_(models), data_(data), folder_(folder), record_(record), wants_(wants) {
    for (const ShortTraining& model : models) {
      work_ += model.work;
      const std::string vocabulary = vocabulary_of(model.recipe);
      if (!shared_.contains(vocabulary)) shared_[vocabulary] = share_text(model.recipe, data, folder);
    }
  }

  void run(ShortTrainingObserver& observer) {
    {
      std::vector<std::jthread> workers;
      const int count = at_once();
      try {
        for (int i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // fewer can do it too
        if (workers.empty()) throw system_error("there is not enough memory to start a thread");
      }
      watch(observer);
    }
    if (error_) std::rethrow_exception(error_);
    if (stopped_) throw train::interrupted_run();
    observer.training(progress());
  }

 private:
  class Observer : public train::RunObserver {
   public:
    Observer(ShortTrainings& outer, const ShortTraining& model) : outer_(outer), model_(model) {}
    void note(const std::string&) override {}  // of each of many runs
    void step(const train::StepReport& report) override {
      const int64_t steps = model_.stop_after > 0 ? model_.stop_after : report.steps;
      const double share = static_cast<double>(report.step) / static_cast<double>(steps);
      outer_.add_work((share - counted_) * model_.work);
      counted_ = share;
    }
    void evaluated(int64_t, const train::Score&, const data::TextCounts&, bool) override {}
    bool stop() override { return outer_.stopped_; }

   private:
    ShortTrainings& outer_;
    const ShortTraining& model_;
    double counted_ = 0;
  };

  static std::string vocabulary_of(const spec::Recipe& recipe) {
    return text(recipe.data.tokenizer, " ", recipe.data.vocabulary);
  }

  // As many as there are threads, and as fit into memory side by side.
  int at_once() const {
    int64_t largest = 1;
    for (const ShortTraining& model : models_)
      largest = std::max(
          largest, train::build_training_graph(model.recipe.model, model.recipe.training).memory().peak());
    const int64_t available = train::available_for_training();
    if (largest > available)
      throw system_error("training a model needs ", format_bytes(largest), " of memory, ",
                         format_bytes(available), " are free; choose a space with a smaller batch or length");
    return static_cast<int>(std::clamp<int64_t>(available / largest, 1, thread_count()));
  }

  // The models, one after the other, as long as there are any.
  void work() {
    const OneThread one;
    for (;;) {
      ShortTraining* model = nullptr;
      {
        const std::scoped_lock lock(mutex_);
        if (stopped_ || error_ || next_ == models_.size()) break;
        model = &models_[next_++];
        ++running_;
      }
      try {
        if (wants(*model)) train(*model);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      const std::scoped_lock lock(mutex_);
      --running_;
      ++done_;
      changed_.notify_all();
    }
  }

  bool wants(const ShortTraining& model) {
    const std::scoped_lock lock(mutex_);
    if (!wants_ || wants_(model)) return true;
    worked_ += model.work;
    return false;
  }

  void train(ShortTraining& model) {
    train::RunRequest request;
    request.recipe = model.recipe;
    request.data = data_;
    request.folder = folder_ / model.name;
    request.shared = shared_.at(vocabulary_of(model.recipe));
    request.record = record_;
    request.leaves_model = false;
    request.stop_after = model.stop_after;
    Observer observer(*this, model);
    ShortTraining trained = model;
    try {
      const train::RunResult result = train::run_training(request, observer);
      if (!result.finished && (model.stop_after == 0 || result.step < model.stop_after)) {
        stopped_ = true;
        return;
      }
      if (result.text.tokens == 0)
        throw usage_error(data_.string(), ": it has no part to validate on; give a longer text");
      trained.text = result.text;
      read_metrics(request.folder, trained);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kDiverged) throw;  // one diverged model does not end the others
    }
    const std::scoped_lock lock(mutex_);
    model = std::move(trained);
  }

  void add_work(double work) {
    const std::scoped_lock lock(mutex_);
    worked_ += work;
  }

  ShortTrainingProgress progress() {
    const std::scoped_lock lock(mutex_);
    return {done_, models_.size(), work_ > 0 ? std::min(1.0, worked_ / work_) : 1};
  }

  void watch(ShortTrainingObserver& observer) {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::duration<double>(kSecondsBetweenReports));
        if (running_ == 0 && (next_ == models_.size() || stopped_ || error_)) return;
      }
      observer.training(progress());
      if (observer.stop()) stopped_ = true;
    }
  }

  std::vector<ShortTraining>& models_;
  const fs::path &data_, &folder_;
  const Json& record_;
  const std::function<bool(const ShortTraining&)>& wants_;
  std::map<std::string, train::SharedText> shared_;  // by vocabulary
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0, running_ = 0, done_ = 0;
  double work_ = 0, worked_ = 0;
  std::atomic<bool> stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

train::SharedText share_text(const spec::Recipe& recipe, const fs::path& data, const fs::path& folder) {
  const train::SharedText shared{
      folder / "vocabularies" / text(recipe.data.tokenizer, "-", recipe.data.vocabulary, ".json"),
      folder / "cache"};
  const train::CorpusTokens tokens = train::open_tokens(recipe.data, data, shared.tokenizer, shared.cache);
  fs::create_directories(shared.tokenizer.parent_path());
  if (!fs::exists(shared.tokenizer)) store::write_json_object(shared.tokenizer, tokens.tokenizer->to_json());
  for (const data::Split split : {data::Split::kTrain, data::Split::kValid}) {
    if (tokens.corpus.has(split)) static_cast<void>(tokens.stream(split));
  }
  return shared;
}

int64_t tokens_to_train_on(const spec::Space& space, const fs::path& data, const fs::path& folder) {
  int64_t most = 0;
  for (const int64_t vocabulary : space.vocabulary) {
    const train::CorpusTokens tokens = shared_tokens(recipe_of(space, vocabulary), data, folder);
    most = std::max(most, tokens.stream(data::Split::kTrain).size());
  }
  return most;
}

void check_comparable(const spec::Recipe& recipe, const fs::path& data, const fs::path& folder) {
  const train::CorpusTokens tokens = shared_tokens(recipe, data, folder);
  if (!tokens.corpus.has(data::Split::kValid)) return;  // the training refuses it
  const data::TextCounts& counts = tokens.stream(data::Split::kValid).counts();
  if (counts.comparable()) return;
  if (counts.folded)
    throw usage_error(data.string(), ": ", counts.what_is_missing(),
                      ", and losses are compared per byte; give the tokenizer bpe or bytes");
  throw usage_error(data.string(), ", its valid part: ", counts.unknown_words(), ", at most ",
                    100 * data::kMostUnknown, "% may be where losses are compared per byte; give a larger ",
                    "vocabulary, or tokenizer bpe or bytes");
}

void leave_out_vocabularies(spec::Space& space, const fs::path& data, const fs::path& folder,
                            const std::function<void(const std::string&)>& note) {
  if (!fs::exists(data)) throw usage_error(data.string(), " does not exist; give a text or a folder of them");
  const std::vector<int64_t> all = space.vocabulary;
  for (const int64_t vocabulary : all) {
    try {
      check_comparable(recipe_of(space, vocabulary), data, folder);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUsage || space.vocabulary.size() == 1) throw;
      note(text("without the models of vocabulary ", vocabulary, ": ", error.what()));
      std::erase(space.vocabulary, vocabulary);
    }
  }
}

int64_t tokens_per_update(const spec::TrainingSpec& training) { return training.batch * training.length; }
int64_t tokens_of(const spec::TrainingSpec& training) { return training.steps * tokens_per_update(training); }

double training_flops(int64_t total, int64_t tokens) {
  // Forward, and twice as much backward.
  return 6 * static_cast<double>(total) * static_cast<double>(tokens);
}

spec::TrainingSpec for_tokens(spec::TrainingSpec training, int64_t tokens) {
  training.steps = std::max<int64_t>(1, tokens / tokens_per_update(training));
  training.warmup = std::min(training.warmup, training.steps / 10);
  return training;
}

void train_shortly(std::vector<ShortTraining>& models, const fs::path& data, const fs::path& folder,
                   const Json& record, const std::function<bool(const ShortTraining& next)>& wants,
                   ShortTrainingObserver& observer) {
  ShortTrainings(models, data, folder, record, wants).run(observer);
}

}  // namespace heed::search
