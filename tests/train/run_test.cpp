// Whole runs: what they leave behind, and that no interruption changes a byte of it.
#include "heed/train/run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <numbers>
#include <optional>
#include <set>
#include <thread>

#include "heed/base/clock.h"
#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/store/checkpoint.h"
#include "heed/store/json_file.h"
#include "heed/store/model_folder.h"
#include "heed/store/run_folder.h"
#include "heed/train/corpus_tokens.h"
#include "heed/train/tasks.h"
#include "tests/support/messages.h"
#include "tests/support/rounding.h"

extern char** environ;

namespace heed {
namespace {

namespace fs = std::filesystem;

// Text of a few words, in random order.
std::string random_text(int words, uint32_t stream) {
  const char* kinds[] = {"the ", "cat ", "sat ", "on a ", "mat ", "and ", "ate.\n"};
  Rng rng(9, stream);
  std::string all;
  for (int i = 0; i < words; ++i) all += kinds[rng.below(7)];
  return all;
}

void write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

fs::path write_corpus(const TemporaryFolder& folder) {
  write(folder / "text" / "train.txt", random_text(300, 0));
  write(folder / "text" / "valid.txt", random_text(80, 1));
  return folder / "text";
}

spec::Recipe small_recipe(const std::string& backbone = "transformer-xl", const std::string& arch = "sf") {
  spec::Recipe recipe;
  recipe.model = spec::backbones().find(backbone).settings();
  recipe.model.arch = arch;
  recipe.model.width = 16, recipe.model.sizes["heads"] = {2}, recipe.model.sizes["inner"] = {24},
  recipe.model.sizes["projection"] = {8};
  recipe.model.embedding.context = 16, recipe.model.dropout = 0;
  recipe.data.tokenizer = "characters";
  recipe.training.batch = 4, recipe.training.length = 8, recipe.training.memory = 8;
  recipe.training.steps = 12, recipe.training.evaluate_every = 5;
  recipe.training.learning_rate = 0.01, recipe.training.optimizer = "adam";
  return recipe;
}

class Observer : public train::RunObserver {
 public:
  explicit Observer(int64_t stop_after = 0) : stop_after_(stop_after) {}
  void note(const std::string& sentence) override { notes += sentence + "\n"; }
  void step(const train::StepReport& report) override {
    last = report;
    if (on_step) on_step(report.step);
  }
  void evaluated(int64_t step, const train::Score& score, const data::TextCounts&, bool best) override {
    losses[step] = score.mean();
    if (best) best_steps.insert(step);
  }
  bool stop() override { return stop_now || (stop_after_ > 0 && last.step >= stop_after_); }

  std::string notes;
  train::StepReport last;
  std::map<int64_t, double> losses;
  std::set<int64_t> best_steps;
  std::function<void(int64_t)> on_step;
  bool stop_now = false;

 private:
  int64_t stop_after_;
};

train::RunResult run(const spec::Recipe& recipe, const fs::path& text, const fs::path& folder,
                     Observer& observer, double save_seconds = 120) {
  train::RunRequest request;
  request.recipe = recipe, request.data = text, request.folder = folder;
  request.save_seconds = save_seconds;
  return train::run_training(request, observer);
}

train::RunResult run(const spec::Recipe& recipe, const fs::path& text, const fs::path& folder,
                     int64_t stop_after = 0, double save_seconds = 120) {
  Observer observer(stop_after);
  return run(recipe, text, folder, observer, save_seconds);
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string checkpoint_name(int64_t step) {
  const std::string digits = std::to_string(step);
  return "step-" + std::string(8 - digits.size(), '0') + digits;
}

// Weights, optimizer states and memories of the last step, and the model, to the last byte; all but the times
// of what was logged.
void expect_same_end(const fs::path& actual, const fs::path& expected, int64_t step) {
  const fs::path last = fs::path("checkpoints") / checkpoint_name(step);
  for (const fs::path& file :
       {last / "model.safetensors", last / "state.safetensors", fs::path("model") / "model.safetensors",
        fs::path("model") / "config.json", fs::path("model") / "tokenizer.json", fs::path("config.json")}) {
    ASSERT_FALSE(content(expected / file).empty()) << expected / file;
    EXPECT_TRUE(content(actual / file) == content(expected / file)) << file;
  }
  const auto without_time = [&](const fs::path& folder) {
    std::vector<Json> lines = store::read_lines(folder / "metrics.jsonl");
    lines.push_back(store::read_json_object(folder / last / "progress.json"));
    for (Json& line : lines) {
      for (const char* time : {"tokens_per_second", "seconds", "whole_seconds", "checksum"}) line.erase(time);
    }
    return lines;
  };
  EXPECT_EQ(without_time(actual), without_time(expected));
}

TEST(Run, LeavesMetricsCheckpointsAndTheBestModel) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), to = folder / "run";
  const spec::Recipe recipe = small_recipe();
  Observer observer;
  const train::RunResult result = run(recipe, text, to, observer);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.step, 12);
  EXPECT_EQ(observer.last.step, 12);
  EXPECT_GT(observer.last.tokens_per_second, 0);
  EXPECT_NE(observer.notes.find("vocabulary of"), std::string::npos) << observer.notes;

  std::vector<int64_t> steps, evaluated;
  for (const Json& line : store::read_lines(to / "metrics.jsonl")) {
    if (line.contains("valid")) {
      evaluated.push_back(line["step"]);
      EXPECT_EQ(line["valid"]["loss"].get<double>(), observer.losses.at(line["step"]));
    } else {
      steps.push_back(line["step"]);
      for (const char* key : {"loss", "norm", "rate", "tokens"}) EXPECT_TRUE(line.contains(key)) << key;
      EXPECT_EQ(line["tokens"], line["step"].get<int64_t>() * 32);
    }
  }
  EXPECT_EQ(steps.size(), 12u);
  EXPECT_EQ(evaluated, (std::vector<int64_t>{5, 10, 12}));
  EXPECT_LT(observer.losses.at(12), observer.losses.at(5));
  EXPECT_EQ(result.best_step, 12);

  // The model alone is enough to score the text again.
  const store::ModelFolder model(to / "model");
  EXPECT_LT(model.recipe().model.embedding.vocabulary, 30);
  const auto tokens =
      train::open_tokens(model.recipe().data, text, model.path() / "tokenizer.json", folder / "c");
  spec::EvaluationSpec protocol;
  protocol.length = 8, protocol.memory = 8, protocol.batch = 4;
  const auto parameters = std::make_shared<graph::NamedTensors>();
  train::Scorer scorer(train::next_token_task(), model.recipe().model, protocol, parameters,
                       model::WeightForm::kPacked);
  model::fill_weights(scorer.graph(), scorer.weights(), *parameters,
                      [&](const std::string& name, const Tensor& into) { model.read(name, into); });
  const auto batches = train::next_token_task().scoring_batches(protocol, tokens, data::Split::kValid);
  EXPECT_NEAR(scorer.run(*batches).mean(), result.best, test::rounding_bound(40, 6 * 5) * result.best);

  const Json record = Json::parse(content(to / "run.json"));
  EXPECT_EQ(record["data"]["tokenizer"], "characters");
  EXPECT_TRUE(record["data"]["hash"].contains("train"));
}

TEST(Run, WithoutAValidPartTheLastModelIsKept) {
  const TemporaryFolder folder;
  write(folder / "text" / "train.txt", random_text(300, 0));
  const train::RunResult result = run(small_recipe(), folder / "text", folder / "run");
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.best_step, 0);
  EXPECT_EQ(store::ModelFolder(folder / "run" / "model").recipe().training.steps, 12);
}

// What is learned makes the valid text less likely: the best model is an early one, and patience ends.
TEST(Run, KeepsTheBestAndLosesPatience) {
  const TemporaryFolder folder;
  std::string forth, back;
  for (int i = 0; i < 200; ++i) forth += "abcd ", back += "dcba ";
  write(folder / "text" / "train.txt", forth);
  write(folder / "text" / "valid.txt", back);
  spec::Recipe recipe = small_recipe();
  recipe.training.steps = 200, recipe.training.evaluate_every = 4, recipe.training.patience = 3;
  Observer observer;
  const train::RunResult result = run(recipe, folder / "text", folder / "run", observer);
  EXPECT_TRUE(result.finished);
  EXPECT_LT(result.step, 100);
  EXPECT_EQ(result.step, result.best_step + 3 * 4);
  EXPECT_EQ(result.best_step, *observer.best_steps.rbegin());
  for (const auto& [step, loss] : observer.losses) EXPECT_GE(loss, result.best) << step;
  EXPECT_EQ(observer.losses.at(result.best_step), result.best);

  // The model is that of the best step: a run that ends after it has the same.
  run(recipe, folder / "text", folder / "short", result.best_step + 1);
  EXPECT_TRUE(content(folder / "run" / "model" / "model.safetensors") ==
              content(folder / "short" / "model" / "model.safetensors"));
  EXPECT_EQ(result.best,
            Json::parse(content(folder / "short" / "checkpoints" / checkpoint_name(result.best_step + 1) /
                                "progress.json"))["best"]);

  // The same command again finds that nothing is left to do.
  const train::RunResult again = run(recipe, folder / "text", folder / "run");
  EXPECT_TRUE(again.finished);
  EXPECT_EQ(again.step, result.step);
  EXPECT_EQ(again.best, result.best);
}

struct Variant {
  const char* name;
  void (*change)(spec::Recipe&);
};

class Interrupted : public testing::TestWithParam<Variant> {};

TEST_P(Interrupted, RunsEndWithTheSameBytes) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder);
  spec::Recipe recipe = small_recipe();
  GetParam().change(recipe);
  const int64_t steps = recipe.training.steps;
  EXPECT_TRUE(run(recipe, text, folder / "whole").finished);
  for (const int64_t stop : {1, 5, 8}) {  // step 5 has an evaluation
    const train::RunResult part = run(recipe, text, folder / "parts", stop);
    EXPECT_EQ(part.finished, false);
    EXPECT_EQ(part.step, stop);
  }
  Observer observer;
  EXPECT_TRUE(run(recipe, text, folder / "parts", observer).finished);
  EXPECT_NE(observer.notes.find("resuming from step 8"), std::string::npos) << observer.notes;
  expect_same_end(folder / "parts", folder / "whole", steps);
  // Once more changes nothing.
  EXPECT_TRUE(run(recipe, text, folder / "parts").finished);
  expect_same_end(folder / "parts", folder / "whole", steps);
}

INSTANTIATE_TEST_SUITE_P(
    Run, Interrupted,
    testing::Values(
        Variant{"Plain", [](spec::Recipe&) {}},
        Variant{"Dropout", [](spec::Recipe& r) { r.model.dropout = 0.2, r.model.attention.dropout = 0.1; }},
        Variant{"RollAndChunks",
                [](spec::Recipe& r) {
                  r.training.roll = true, r.training.chunks = 2, r.training.optimizer = "lamb";
                  r.model.dropout = 0.1;
                }},
        // An epoch has more than 12 steps; with longer segments it has less.
        Variant{"SeveralEpochs", [](spec::Recipe& r) { r.training.roll = true, r.training.length = 60; }},
        Variant{"MemoryGoesOn",
                [](spec::Recipe& r) {
                  r.training.restart_memory = false, r.training.length = 60, r.training.memory = 70;
                }},
        Variant{"Recurrence",
                [](spec::Recipe& r) {
                  r = small_recipe("sru++", "raf");
                  r.model.dropout = 0.1, r.training.optimizer = "radam", r.training.chunks = 2;
                }},
        Variant{"Gpt2", [](spec::Recipe& r) { r = small_recipe("gpt2", "sf"), r.training.memory = 0; }},
        Variant{"AdaptiveWords",
                [](spec::Recipe& r) {
                  r.data.tokenizer = "words", r.model.embedding.cutoffs = {3}, r.model.embedding.division = 2;
                }}),
    [](const auto& given) { return given.param.name; });

// What is the best model only because the run was stopped there is forgotten when it resumes: an undisturbed
// run does not know it.
TEST(Run, TheBestModelBeforeAStopIsKept) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), cut = folder / "cut", whole = folder / "whole";
  const auto weights = [](const fs::path& model) { return content(model / "model.safetensors"); };
  for (int64_t stop = 1; stop <= 5; ++stop) EXPECT_FALSE(run(small_recipe(), text, cut, stop).finished);
  const std::string evaluated = weights(cut / "model");
  for (int64_t stop = 6; stop <= 8; ++stop) {
    EXPECT_FALSE(run(small_recipe(), text, cut, stop).finished);
    EXPECT_NE(weights(cut / "model"), evaluated) << stop;  // each update makes it better
    EXPECT_EQ(weights(cut / "model.before-stop"), evaluated) << stop;
  }
  EXPECT_TRUE(run(small_recipe(), text, cut).finished);
  EXPECT_TRUE(run(small_recipe(), text, whole).finished);
  EXPECT_FALSE(fs::exists(cut / "model.before-stop"));
  EXPECT_EQ(weights(cut / "model"), weights(whole / "model"));
}

// About twenty times in a run, in round numbers, and never as much work as the training.
TEST(Run, EvaluationsFollowTheLengthOfTheRun) {
  EXPECT_EQ(train::usual_interval(12, 0), 1);
  EXPECT_EQ(train::usual_interval(250, 0), 20);
  EXPECT_EQ(train::usual_interval(2000, 1), 100);
  EXPECT_EQ(train::usual_interval(2100, 0), 200);
  EXPECT_EQ(train::usual_interval(1'000'000, 0), 1000);
  EXPECT_EQ(train::usual_interval(2000, 36), 500);  // an evaluation is as much work as 36 updates
  EXPECT_EQ(train::usual_interval(1'000'000, 360), 5000);
  const TemporaryFolder folder;
  spec::Recipe recipe = small_recipe();
  recipe.training.evaluate_every = spec::TrainingSpec().evaluate_every;
  recipe.training.steps = 400, recipe.training.evaluate_tokens = 64;
  Observer observer;
  run(recipe, write_corpus(folder), folder / "run", observer);
  EXPECT_EQ(observer.losses.size(), 20u);
  EXPECT_EQ(observer.losses.begin()->first, 20);
}

// The rate comes down within the time, in a run that has no time for all of its steps.
TEST(Run, ATimeShapesTheSchedule) {
  const TemporaryFolder folder;
  train::RunRequest request;
  request.recipe = small_recipe(), request.data = write_corpus(folder), request.folder = folder / "run";
  request.recipe.training.steps = 100'000'000, request.recipe.training.evaluate_every = 100;
  request.recipe.training.warmup = 10'000'000;
  request.max_seconds = 1.5;
  Observer observer;
  std::vector<double> rates;
  observer.on_step = [&](int64_t) { rates.push_back(observer.last.learning_rate); };
  const train::RunResult result = train::run_training(request, observer);
  EXPECT_TRUE(result.finished);
  EXPECT_GT(result.seconds, 0.9 * request.max_seconds);
  EXPECT_EQ(result.step, static_cast<int64_t>(rates.size()));
  EXPECT_TRUE(fs::exists(folder / "run" / "model"));
  const auto top = std::ranges::max_element(rates);
  EXPECT_GT(*top, 0.0099);  // of 0.01
  EXPECT_LT(rates.back(), 0.001);
  EXPECT_TRUE(std::is_sorted(rates.begin(), top + 1));
  EXPECT_TRUE(std::is_sorted(top, rates.end(), std::greater<>()));
  // It is over, also if more time is given.
  request.max_seconds = 3;
  EXPECT_EQ(train::run_training(request, observer).step, result.step);
}

// A run that was interrupted goes on with the rest of its time and with what was decided.
TEST(Run, ATimeIsThatOfTheWholeRun) {
  const TemporaryFolder folder;
  train::RunRequest request;
  request.recipe = small_recipe(), request.data = write_corpus(folder), request.folder = folder / "run";
  request.recipe.training.steps = 100'000'000;
  request.max_seconds = 1.5;
  Observer first;
  std::optional<double> begin;
  first.on_step = [&](int64_t) {
    if (!begin) begin = now_seconds();
    first.stop_now = now_seconds() > *begin + 0.9;
  };
  const train::RunResult before = train::run_training(request, first);
  EXPECT_FALSE(before.finished);
  Observer second;
  std::optional<double> rate;
  second.on_step = [&](int64_t) {
    if (!rate) rate = second.last.learning_rate;
  };
  const train::RunResult result = train::run_training(request, second);
  EXPECT_TRUE(result.finished);
  EXPECT_LT(result.seconds,
            request.max_seconds - before.seconds / 2);  // a time of its own would be all of it
  // One update further on the cosine, whose slope is half of pi at most; the plan may have changed by half.
  const auto updates_left = static_cast<double>(first.last.steps - first.last.step);
  EXPECT_NEAR(*rate, first.last.learning_rate, 2 * 0.01 * std::numbers::pi / 2 / updates_left);
}

spec::Recipe recipe_to_kill() {
  spec::Recipe recipe = small_recipe("transformer-xl", "sraf");
  recipe.training.steps = 30, recipe.training.evaluate_every = 3;
  recipe.model.dropout = 0.1, recipe.training.roll = true, recipe.training.chunks = 2;
  return recipe;
}

constexpr const char* kTextVariable = "HEED_TEST_RUN_TEXT";
constexpr const char* kFolderVariable = "HEED_TEST_RUN_FOLDER";

// The process that Run.SurvivesBeingKilled starts and kills.
TEST(Run, DISABLED_Child) {
  const char *text = std::getenv(kTextVariable), *folder = std::getenv(kFolderVariable);
  ASSERT_TRUE(text && folder);
  run(recipe_to_kill(), text, folder, 0, 0);
}

// Starts the run in a process of its own; a fork would inherit a pool of threads that is not there.
pid_t start_child(const fs::path& text, const fs::path& folder) {
  ::setenv(kTextVariable, text.c_str(), 1);
  ::setenv(kFolderVariable, folder.c_str(), 1);
  char name[] = "run_test", filter[] = "--gtest_filter=Run.DISABLED_Child",
       disabled[] = "--gtest_also_run_disabled_tests", brief[] = "--gtest_brief=1";
  char* arguments[] = {name, filter, disabled, brief, nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  EXPECT_EQ(::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return child;
}

int64_t size_of(const fs::path& file) {
  std::error_code missing;
  const auto size = static_cast<int64_t>(fs::file_size(file, missing));
  return missing ? 0 : size;
}

// Kills the child at a random moment after some more steps, counted in what it has logged. Returns whether it
// was still at work.
bool kill_at_random(pid_t child, const fs::path& metrics, Rng& rng) {
  constexpr int64_t kBytesOfSomeSteps = 700;
  const int64_t enough = size_of(metrics) + rng.below(kBytesOfSomeSteps);
  int status = 0;
  while (size_of(metrics) < enough) {
    if (::waitpid(child, &status, WNOHANG) == child) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(rng.below(8000)));
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

TEST(Run, SurvivesBeingKilled) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), to = folder / "killed";
  run(recipe_to_kill(), text, folder / "whole");
  Rng rng(static_cast<uint64_t>(::getpid()), 0);  // other moments every time
  int killed = 0;
  for (int attempt = 0; attempt < 12; ++attempt)
    killed += kill_at_random(start_child(text, to), to / "metrics.jsonl", rng);
  EXPECT_GT(killed, 2);
  Observer observer;
  EXPECT_TRUE(run(recipe_to_kill(), text, to, observer, 0).finished);
  expect_same_end(to, folder / "whole", recipe_to_kill().training.steps);
  for (const auto& entry : fs::recursive_directory_iterator(to))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path() << " was left behind";
}

TEST(Run, GoesBackToACheckpointThatIsWhole) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), to = folder / "run";
  run(small_recipe(), text, folder / "whole");
  run(small_recipe(), text, to, 5);
  run(small_recipe(), text, to, 7);
  fs::resize_file(to / "checkpoints" / checkpoint_name(7) / "state.safetensors", 100);
  Observer observer;
  EXPECT_TRUE(run(small_recipe(), text, to, observer).finished);
  EXPECT_NE(observer.notes.find("resuming from step 5"), std::string::npos) << observer.notes;
  EXPECT_NE(observer.notes.find("damaged"), std::string::npos) << observer.notes;
  expect_same_end(to, folder / "whole", 12);
}

TEST(Run, OtherSettingsOrAnotherTextAreRefused) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), to = folder / "run";
  run(small_recipe(), text, to, 3);
  const auto changed = [&](auto change) {
    spec::Recipe recipe = small_recipe();
    change(recipe);
    return test::message_of([&] { run(recipe, text, to); });
  };
  EXPECT_NE(changed([](auto& r) { r.training.batch = 2; }).find("'training.batch' was 4 and is 2 now"),
            std::string::npos);
  EXPECT_NE(changed([](auto& r) { r.model.width = 32; }).find("'model.width' was 16 and is 32 now"),
            std::string::npos);
  EXPECT_NE(changed([](auto& r) { r.data.tokenizer = "bytes"; }).find("'data.tokenizer'"), std::string::npos);
  const std::string before = content(text / "train.txt");
  for (const char* file : {"train.txt", "valid.txt"}) {
    const std::string right = content(text / file);
    std::string wrong = right;
    wrong[wrong.size() / 2] = wrong[wrong.size() / 2] == 'a' ? 'e' : 'a';
    write(text / file, wrong);
    EXPECT_NE(test::message_of([&] { run(small_recipe(), text, to); }).find("started with another text"),
              std::string::npos)
        << file;
    write(text / file, right);
  }
  EXPECT_TRUE(run(small_recipe(), text, to).finished);
  run(small_recipe(), text, folder / "whole");
  expect_same_end(to, folder / "whole", 12);
}

TEST(Run, AFolderThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder);
  write(folder / "file", "x");
  EXPECT_SAYS(run(small_recipe(), text, folder / "file" / "run"), "cannot be created");
  EXPECT_SAYS(run(small_recipe(), text, "/proc/run"), "cannot be created");
  EXPECT_SAYS(run(small_recipe(), text, text), "holds files");
  fs::create_directories(folder / "run" / "model");
  fs::create_directories(folder / "other" / "lock");
  EXPECT_SAYS(run(small_recipe(), text, folder / "other"), "lock", ErrorKind::kSystem);
}

TEST(Run, AFullDiskLeavesEarlierCheckpoints) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), to = folder / "run";
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  for (const int64_t full : {3, 5, 6}) {  // at step 5 the model is written as well
    Observer observer;
    observer.on_step = [&](int64_t step) {
      const rlimit small{4096, limit.rlim_max};  // metrics and progress fit, weights do not
      if (step >= full) ::setrlimit(RLIMIT_FSIZE, &small);
    };
    const std::string message =
        test::message_of([&] { run(small_recipe(), text, to, observer, 0); }, ErrorKind::kSystem);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_NE(message.find("File too large"), std::string::npos) << message;
    const auto latest = store::latest_checkpoint(to / "checkpoints");
    EXPECT_EQ(latest.step, full - 1);
    EXPECT_TRUE(latest.notes.empty());
  }
  ::signal(SIGXFSZ, before);
  EXPECT_TRUE(run(small_recipe(), text, to).finished);
  run(small_recipe(), text, folder / "whole");
  expect_same_end(to, folder / "whole", 12);
}

TEST(Run, ALossThatRisesStopsTheRun) {
  const TemporaryFolder folder;
  const fs::path text = write_corpus(folder), to = folder / "run";
  spec::Recipe recipe = small_recipe();
  recipe.training.steps = 1000, recipe.training.warmup = 50, recipe.training.learning_rate = 1e4;
  recipe.training.optimizer = "adam", recipe.training.evaluate_every = 0;
  const std::string message = test::message_of([&] { run(recipe, text, to, 0, 0); }, ErrorKind::kDiverged);
  EXPECT_NE(message.find("training: "), std::string::npos) << message;
  EXPECT_NE(message.find("smaller learning rate"), std::string::npos) << message;
  EXPECT_NE(message.find("the loss has risen from"), std::string::npos) << message;
  EXPECT_GE(store::latest_checkpoint(to / "checkpoints").step, 1);
}

TEST(Run, TextsThatAreTooShortAreRefused) {
  const TemporaryFolder folder;
  write(folder / "text" / "train.txt", "too short");
  EXPECT_SAYS(run(small_recipe(), folder / "text", folder / "run"), "too few");
  EXPECT_SAYS(run(small_recipe(), folder / "nothing", folder / "run"), "does not exist");
}

// A setting that came later has its default in runs that were begun before.
TEST(Run, ConfigsOfEarlierVersionsAreUnderstood) {
  const TemporaryFolder folder;
  train::RunRequest request;
  request.recipe = small_recipe();
  request.data = write_corpus(folder);
  request.folder = folder / "run";
  Observer first(4);
  EXPECT_FALSE(train::run_training(request, first).finished);
  Json config = store::read_json_object(folder / "run/config.json");
  ASSERT_EQ(config["model"].erase("mix"), 1u);
  store::write_json_object(folder / "run/config.json", config);
  Observer second;
  EXPECT_TRUE(train::run_training(request, second).finished);
  config["model"]["width"] = 32;
  store::write_json_object(folder / "run/config.json", config);
  EXPECT_THROW(train::run_training(request, second), Error);
}

}  // namespace
}  // namespace heed
