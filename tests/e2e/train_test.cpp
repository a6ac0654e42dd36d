#include <fcntl.h>
#include <spawn.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <regex>
#include <sstream>
#include <thread>

#include "heed/base/units.h"
#include "heed/store/safetensors.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;

class TrainVerb : public Verbs {
 protected:
  std::string command(const std::string& run, const std::string& flags = "") const {
    return "train " + tiny() + " --data " + text() + " -o " + path(run) + " --threads 1 " + flags;
  }

  // Starts the program, sends the signal when its first checkpoint is there, and returns how it ended: the
  // exit code, or 128 + the signal that killed it.
  int interrupted(const std::string& run, const std::string& flags, int signal) const {
    std::vector<std::string> words = {HEED_PROGRAM, "train",   tiny(),      "--data", text(),
                                      "-o",         path(run), "--threads", "1"};
    std::istringstream more(flags);
    for (std::string word; more >> word;) words.push_back(word);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (int stream : {1, 2}) posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, HEED_PROGRAM, &quiet, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&quiet);
    const auto complete = [&] {
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator(path(run) + "/checkpoints", ignored)) {
        if (entry.path().filename().string().size() == std::string("step-00000000").size()) return true;
      }
      return false;
    };
    int status = 0;
    while (!complete() && waitpid(child, &status, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(child, signal);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::vector<std::string> checkpoints(const std::string& run) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path(run) + "/checkpoints"))
      names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // JSON objects, one a line, without the time that was spent.
  std::vector<Json> timeless(const std::string& text) const {
    std::istringstream lines(text);
    std::vector<Json> all;
    for (std::string line; std::getline(lines, line);) {
      all.push_back(Json::parse(line));
      for (const char* time : {"seconds", "whole_seconds", "tokens_per_second", "checksum"})
        all.back().erase(time);
    }
    return all;
  }
  std::vector<Json> metrics(const std::string& run) const {
    return timeless(content(path(run) + "/metrics.jsonl"));
  }
  std::vector<Json> progress(const std::string& run) const {
    return timeless(Json::parse(content(checkpoints(run).back() + "/progress.json")).dump());
  }
  std::string model(const std::string& run) const { return content(path(run) + "/model/model.safetensors"); }
};

TEST_F(TrainVerb, TrainLearnsAndSaysWhere) {
  const Outcome outcome =
      heed("train " + tiny() + " --data " + text() + " -o " + path("run") + " --steps 200");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(outcome.out.starts_with("trained 200 steps in ")) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("model in " + path("run") + "/model\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome, "step 200/200")) << outcome.output;
  const size_t at = outcome.out.find("validation score: ");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  EXPECT_LT(std::stod(outcome.out.substr(at + 18)), 2.5);  // 8 bits before, 4 for single letters
  for (const char* name : {"config.json", "run.json", "metrics.jsonl", "samples.jsonl", "tokenizer.json",
                           "model/config.json", "model/tokenizer.json", "model/model.safetensors"}) {
    EXPECT_TRUE(fs::is_regular_file(path("run") + "/" + name)) << name;
  }
  const std::string before = model("run");
  const Outcome again = heed(command("run", "--steps 200"));
  EXPECT_EQ(again.code, 0);
  EXPECT_TRUE(again.out.starts_with("already trained for 200 steps")) << again.output;
  EXPECT_EQ(model("run"), before);
}

// The model as asked for; the run itself neither knows nor cares.
TEST_F(TrainVerb, SavesTheModelInTheTypeAskedFor) {
  trained("f32");
  const auto loss = [&](const std::string& folder) {
    const Outcome outcome = heed("eval " + path(folder) + " --data " + text() + " --threads 1 --json");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return Json::parse(outcome.out)["nats_per_token"].get<double>();
  };
  for (const std::string type : {"f16", "bf16"}) {
    trained(type, "--save-dtype " + type);
    EXPECT_LT(model(type).size(), model("f32").size());
    EXPECT_EQ(content(checkpoints(type).back() + "/model.safetensors"),
              content(checkpoints("f32").back() + "/model.safetensors"));
    EXPECT_EQ(metrics(type), metrics("f32"));
    // The same numbers stored as f32 are the same model.
    fs::copy(path(type) + "/model", path(type + "-wide"), fs::copy_options::recursive);
    const store::Safetensors stored(path(type) + "/model/model.safetensors");
    std::map<std::string, std::vector<float>> values;
    store::Tensors tensors;
    for (const auto& [name, info] : stored.all()) {
      EXPECT_EQ(std::string(info.type->name), type == "f16" ? "F16" : "BF16") << name;
      values[name].resize(static_cast<size_t>(info.elements));
      tensors[name] = {values[name].data(), {Shape(info.shape), DType::kF32}};
      stored.read(name, tensors[name]);
    }
    store::write_safetensors(path(type + "-wide") + "/model.safetensors", tensors);
    EXPECT_EQ(loss(type + "/model"), loss(type + "-wide"));
    EXPECT_NE(loss(type + "/model"), loss("f32/model"));
  }
  refuses(command("i8", "--save-dtype i8"), 2, "--save-dtype is 'i8'; give f32, f16 or bf16");
}

TEST_F(TrainVerb, UnitsAreUnderstood) {
  const Outcome tokens = heed(command("tokens", "--tokens 1.28K"));
  EXPECT_TRUE(tokens.out.starts_with("trained 20 steps")) << tokens.output;
  const Outcome timed = heed(command("timed", "--steps 1000000 --max-time 50ms"));
  // The first update, before there is a plan, knows of the limit as well.
  EXPECT_TRUE(std::regex_search(timed.output, std::regex("step 1/1000000 .* ETA [0-9.]+ (ms|us)")))
      << timed.output;
  EXPECT_EQ(timed.code, 0) << timed.output;
  EXPECT_TRUE(timed.out.starts_with("trained ")) << timed.output;
}

// Also before the first evaluation is due, and with a better one than the last.
TEST_F(TrainVerb, AStopLeavesAModel) {
  const Outcome early = heed(command("early", "--steps 1000000 --evaluate-every 900000 --max-time 50ms"));
  ASSERT_EQ(early.code, 0) << early.output;
  EXPECT_TRUE(contains(early, ": valid ")) << early.output;
  EXPECT_TRUE(contains(early, "; model in ")) << early.output;
  EXPECT_EQ(heed("generate " + path("early") + " -n 5").code, 0);
  EXPECT_EQ(heed("eval " + path("early") + " --data " + text()).code, 0);
  // A signal too, and what was logged then is not in the log of the resumed run.
  const std::string flags = "--steps 400 --evaluate-every 350 --save-seconds 0.01";
  EXPECT_EQ(interrupted("cut", flags, SIGINT), 130);
  EXPECT_NE(model("cut"), "");
  EXPECT_NE(content(path("cut/metrics.jsonl")).find("at_stop"), std::string::npos);
  ASSERT_EQ(heed(command("cut", flags)).code, 0);
  ASSERT_EQ(heed(command("whole", flags)).code, 0);
  EXPECT_EQ(metrics("cut"), metrics("whole"));
  EXPECT_EQ(model("cut"), model("whole"));
}

TEST_F(TrainVerb, DryRunStatesAndAllocatesNothing) {
  const Outcome outcome = heed("train " + tiny() + " --dry-run");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  for (const char* part : {"parameters", "40 steps of 4 x 16 tokens", "of memory", "in total"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  for (const char* large : {"par-large-wt103 --batch 4096", "gpt2-1558m", "gpt2-124m --batch 10000"}) {
#ifdef HEED_SANITIZED
    const std::string limit;  // the sanitizer alone needs more
#else
    const std::string limit = "ulimit -d 400000;";  // KiB: less than any of these models' weights
#endif
    const Outcome refused = heed(std::string("train ") + large + " --dry-run", limit);
    EXPECT_EQ(refused.code, 1) << refused.output;
    EXPECT_TRUE(contains(refused, "are needed")) << refused.output;
  }
}

TEST_F(TrainVerb, GoesOnAfterSignalsToTheSameBytes) {
  // Mostly training, and mostly evaluating.
  const std::string steps = "--steps 1500 --save-seconds 0.1 --evaluate-every 500";
  const std::string scores = "--steps 100 --save-seconds 0.1 --evaluate-every 1 --evaluate-tokens 0";
  struct Case {
    const char* name;
    int signal, code;
  };
  for (const std::string& flags : {steps, scores}) {
    fs::remove_all(path("whole"));
    ASSERT_EQ(heed(command("whole", flags)).code, 0);
    for (const Case& c : {Case{"int", SIGINT, 130}, Case{"term", SIGTERM, 130}, Case{"kill", SIGKILL, 137}}) {
      fs::remove_all(path(c.name));
      EXPECT_EQ(interrupted(c.name, flags, c.signal), c.code) << c.name;
      const Outcome rest = heed(command(c.name, flags));
      EXPECT_EQ(rest.code, 0) << rest.output;
      EXPECT_TRUE(contains(rest, "resuming from step ")) << c.name << rest.output;
      EXPECT_EQ(model(c.name), model("whole")) << c.name;
      EXPECT_EQ(metrics(c.name), metrics("whole")) << c.name;
      EXPECT_EQ(content(path(c.name) + "/samples.jsonl"), content(path("whole/samples.jsonl"))) << c.name;
      EXPECT_EQ(progress(c.name), progress("whole")) << c.name;
      EXPECT_EQ(content(checkpoints(c.name).back() + "/state.safetensors"),
                content(checkpoints("whole").back() + "/state.safetensors"))
          << c.name;
    }
  }
}

// A handler would run on whatever stack the interrupted thread has, and oneDNN's products borrow the heap for
// theirs: one in some thousand runs lost its heap by being interrupted there.
TEST_F(TrainVerb, NoSignalIsHandledInTheMiddleOfWork) {
  const Child child(command("run", "--steps 100000000"), path("out"));
  for (int wait = 0; wait < 20000 && !fs::exists(path("run/metrics.jsonl")); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  size_t threads = 0, waiting = 0;
  for (const auto& task : fs::directory_iterator(heed::text("/proc/", child.pid(), "/task"))) {
    std::istringstream status(content(task.path() / "status"));
    uint64_t caught = 0, blocked = 0;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:")) caught = std::stoull(line.substr(7), nullptr, 16);
      if (line.starts_with("SigBlk:")) blocked = std::stoull(line.substr(7), nullptr, 16);
    }
    for (const int signal : {SIGINT, SIGTERM}) {
      const uint64_t bit = uint64_t{1} << (signal - 1);
      EXPECT_FALSE(caught & bit) << signal;
      waiting += (blocked & bit) != 0;
    }
    ++threads;
  }
  EXPECT_GE(threads, 2u);
  // The one that takes them has them unblocked while it waits.
  EXPECT_EQ(waiting, 2 * (threads - 1));
  child.send(SIGTERM);
  EXPECT_EQ(child.status(), 130 << 8);
}

TEST_F(TrainVerb, DamagedCheckpoints) {
  const std::string flags = "--steps 9 --save-seconds 0 --evaluate-every 0";
  ASSERT_EQ(heed(command("run", flags)).code, 0);
  const std::string before = model("run");
  fs::resize_file(checkpoints("run").back() + "/model.safetensors", 500);
  const Outcome older = heed(command("run", flags));
  EXPECT_EQ(older.code, 0) << older.output;
  EXPECT_TRUE(contains(older, "step-00000009: skipped, it is damaged")) << older.output;
  EXPECT_TRUE(contains(older, "resuming from step 8")) << older.output;
  EXPECT_EQ(model("run"), before);
  // None is whole: what there is stays.
  for (const std::string& checkpoint : checkpoints("run"))
    fs::resize_file(checkpoint + "/state.safetensors", 100);
  refuses(command("run", flags), 1, "no checkpoint is complete");
  EXPECT_EQ(model("run"), before);
  // Progress that belongs to another step.
  ASSERT_EQ(heed(command("progress", flags)).code, 0);
  file("progress/checkpoints/step-00000009/progress.json", "{}");
  refuses(command("progress", flags), 1, "progress.json says step 0");
  // Another architecture under the same settings.
  ASSERT_EQ(heed(command("words", flags + " --tokenizer words")).code, 0);
  ASSERT_EQ(heed(command("bytes", flags)).code, 0);
  fs::copy_file(checkpoints("words").back() + "/model.safetensors",
                checkpoints("bytes").back() + "/model.safetensors", fs::copy_options::overwrite_existing);
  refuses(command("bytes", flags), 2, "a checkpoint of another architecture");
}

TEST_F(TrainVerb, GoesOnOnlyWithTheSameTokenizer) {
  const std::string words = command("run", "--tokenizer words");
  ASSERT_EQ(heed(words).code, 0);
  const std::string before = content(path("run/tokenizer.json"));
  std::string changed = before;  // the same words with other ids
  for (const auto& [from, to] : {std::pair{"the", "?"}, {"cat", "the"}, {"?", "cat"}}) {
    const std::string word = heed::text('"', from, '"');
    ASSERT_NE(changed.find(word), std::string::npos) << word;
    changed.replace(changed.find(word), word.size(), heed::text('"', to, '"'));
  }
  file("run/tokenizer.json", changed);
  refuses(words, 2, "its tokenizer.json is not the one that this run was started with");
  file("run/tokenizer.json", before);
  EXPECT_EQ(heed(words).code, 0);
}

TEST_F(TrainVerb, KeepsToItsFolder) {
  ASSERT_EQ(heed(command("run")).code, 0);
  const std::string before = model("run"), config = content(path("run/config.json"));
  refuses(command("run", "--batch 8"), 2, "'training.batch' was 4 and is 8 now");
  refuses("train " + tiny() + " -o " + path("run") + " --data " + file("other.txt", std::string(9000, 'x')),
          2, "this run was started with another text");
  EXPECT_EQ(model("run"), before);
  EXPECT_EQ(content(path("run/config.json")), config);
  file("mine/letter.txt", "dear reader");
  refuses(command("mine"), 2, "holds files but no config.json; use a new or an empty folder");
  EXPECT_FALSE(fs::exists(path("mine/lock")));
  refuses(command("text.txt"), 2, "the folder cannot be created");
  refuses(command("../../../proc/none"), 2, "the folder cannot be created");
  for (const char* name : {"run/config.json", "run/run.json", "run/tokenizer.json"}) {
    const std::string whole = content(path(name));
    file(name, "{");
    refuses(command("run"), 1, "is it damaged?");
    file(name, whole);
  }
  file("run/run.json", R"({"data": 3, "resumed": []})");
  refuses(command("run"), 1, "is it damaged?");
}

TEST_F(TrainVerb, AFailedStartLeavesTheFolderFree) {
  refuses("train " + tiny() + " -o " + path("run") + " --data " + file("short.txt", "some text\n"), 2,
          "too few for batches of 4 x 16");
  EXPECT_FALSE(fs::exists(path("run/config.json")));
  EXPECT_EQ(heed(command("run", "--batch 2 --steps 3")).code, 0);
}

// What a run may be resumed with, and what not.
TEST_F(TrainVerb, SomeSettingsMayChange) {
  ASSERT_EQ(heed(command("run")).code, 0);  // 40 steps
  const Outcome same = heed(command("run", "--evaluate-every 7 --eval-memory 8"));
  EXPECT_EQ(same.code, 2) << same.output;  // not a flag of train
  const Outcome more = heed(command("run", "--steps 60 --evaluate-every 30 --set evaluation.memory=8"));
  ASSERT_EQ(more.code, 0) << more.output;
  EXPECT_TRUE(contains(more, "training.steps changes from 40 to 60")) << more.output;
  const std::string warning = "the learning rate now differs from that of a run with these settings";
  EXPECT_TRUE(contains(more, warning)) << more.output;
  EXPECT_TRUE(contains(more, "trained 60 steps, the last 20 in ")) << more.output;
  EXPECT_EQ(metrics("run").back()["step"], 60);
  const Json config = Json::parse(content(path("run/config.json")));
  EXPECT_EQ(config["training"]["steps"], 60);
  EXPECT_EQ(config["evaluation"]["memory"], 8);
  const Outcome quiet = heed(command("run", "--steps 60 --evaluate-every 20 --set evaluation.memory=8"));
  EXPECT_TRUE(contains(quiet, "already trained for 60 steps")) << quiet.output;
  EXPECT_FALSE(contains(quiet, warning)) << quiet.output;
  refuses(command("run", "--steps 50"), 2,
          path("run") + " has already made 60 of 60 steps, and 50 were asked for");
  EXPECT_EQ(Json::parse(content(path("run/config.json")))["training"]["steps"], 60);
  refuses(command("run", "--steps 60 --batch 8"), 2, "May change: training.steps");
  const Outcome rates = heed(command("run", "--steps 70 --learning-rate 0.002"));
  ASSERT_EQ(rates.code, 0) << rates.output;
  const size_t once = rates.output.find(warning);
  ASSERT_NE(once, std::string::npos) << rates.output;
  EXPECT_EQ(rates.output.find(warning, once + 1), std::string::npos) << rates.output;
}

// The same command resumes what it began, and only then makes more.
TEST_F(TrainVerb, ARunThatHasEndedIsTrainedLonger) {
  ASSERT_EQ(heed(command("run", "--save-seconds 0.01")).code, 0);
  const std::string more = "--more-steps 400 --save-seconds 0.01";
  EXPECT_EQ(interrupted("run", more, SIGINT), 130);
  const Outcome rest = heed(command("run", more));
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_EQ(metrics("run").back()["step"], 440);
  const Outcome again = heed(command("run", "--more-steps 5"));
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(metrics("run").back()["step"], 445);
  // Also one that its time has ended.
  ASSERT_EQ(heed(command("timed", "--steps 1000000 --max-time 50ms")).code, 0);
  const int64_t made = metrics("timed").back()["step"];
  const Outcome longer = heed(command("timed", "--more-steps 10"));
  EXPECT_EQ(longer.code, 0) << longer.output;
  EXPECT_EQ(metrics("timed").back()["step"], made + 10);
  // At a rate that a run of so many steps would have.
  const std::vector<Json> lines = metrics("timed");
  const auto first = std::ranges::find_if(
      lines, [&](const Json& line) { return line["step"] == made + 1 && line.contains("rate"); });
  ASSERT_NE(first, lines.end());
  EXPECT_GT((*first)["rate"].get<double>(), 1e-3);
}

TEST_F(TrainVerb, StartsFromTheWeightsOfAModel) {
  const std::string run = trained();
  const std::string tune =
      "train --init " + run + " --data " + text() + " --threads 1 --learning-rate 1e-9 -o ";
  const Outcome tuned = heed(tune + path("tuned") + " --steps 1");
  ASSERT_EQ(tuned.code, 0) << tuned.output;
  const Json before = Json::parse(heed("eval " + run + " --json --data " + text()).out),
             after = Json::parse(heed("eval " + path("tuned") + " --json --data " + text()).out);
  EXPECT_NEAR(after["nats_per_token"].get<double>(), before["nats_per_token"].get<double>(), 1e-4);
  EXPECT_EQ(Json::parse(content(path("tuned/run.json")))["init"], run);
  // Another text in its vocabulary, and another length.
  const std::string other = file("other.txt", std::string(4000, 'x') + std::string(4000, '\n'));
  EXPECT_EQ(heed("train " + tiny() + " --init " + run + "/model --data " + other +
                 " --length 8 --steps 2 -o " + path("other"))
                .code,
            0);
  refuses(tune + path("new") + " --tokenizer words", 2, "has its vocabulary; leave out --tokenizer");
  refuses(tune + path("new") + " --set model.width=32 --steps 1", 2,
          "is F32[16], the model of config.json needs f32[32]");
  refuses("train --init " + path("nothing") + " --data " + text() + " -o " + path("new"), 2,
          "does not exist");
  refuses(
      "train " + tiny() + " --data " + text() + " -o " + path("tuned") + " --steps 1 --learning-rate 1e-9", 2,
      "the run started from");
  EXPECT_FALSE(fs::exists(path("new/config.json")));
}

// What is announced is what is trained, whatever the vocabulary.
TEST_F(TrainVerb, SizesFollowTheVocabulary) {
  const auto parameters = [&](const std::string& arguments) {
    const Outcome outcome = heed(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return Json::parse(outcome.out)["parameters"].get<int64_t>();
  };
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "w" + std::to_string(i % 700) + (i % 9 == 8 ? "\n" : " ");
  const std::string data = " --data " + file("words.txt", words),
                    dry = "train " + tiny() + " --dry-run --json";
  const int64_t bytes = parameters(dry), row = 16 + 1;  // of the table, and the bias of the output
  EXPECT_EQ(parameters(dry + " --tokenizer words --vocabulary 500") - bytes, (500 - 256) * row);
  EXPECT_EQ(parameters(dry + " --tokenizer words --vocabulary 50000" + data) - bytes, (702 - 256) * row);
  EXPECT_EQ(parameters(dry + " --tokenizer bpe") - bytes, (4096 - 256) * row);
  refuses(dry + " --tokenizer words", 2, "depends on the text; give --vocabulary, or the text with --data");
  const Outcome described = heed("describe " + tiny() + " --json --tokenizer bpe --vocabulary 300");
  EXPECT_EQ(Json::parse(described.out)["spec"]["vocabulary"], 300) << described.output;
  // A recipe that was found without this text may ask for more tokens than it has.
  const std::string many =
      file("many.json", R"({"model": {"arch": "sf", "width": 16, "heads": [2], "inner": [32],
    "vocabulary": 16384}, "data": {"tokenizer": "bpe", "vocabulary": 16384}, "training": {"batch": 2, "length": 16}})");
  const Outcome fewer = heed("train " + many + " --steps 1 -o " + path("fewer") + data);
  EXPECT_EQ(fewer.code, 0) << fewer.output;
  EXPECT_TRUE(contains(fewer, "the vocabulary of the text has ")) << fewer.output;
  EXPECT_EQ(heed("eval " + path("fewer") + data).code, 0);

  // Before the run itself, which has few pairs to merge.
  const Outcome run = heed("train " + tiny() + " --tokenizer bpe --steps 1 -o " + path("bpe") + data);
  ASSERT_EQ(run.code, 0) << run.output;
  const Json made = Json::parse(content(path("bpe/config.json")));
  EXPECT_LT(made["model"]["vocabulary"], 4096);
  const int64_t announced = bytes + (made["model"]["vocabulary"].get<int64_t>() - 256) * row;
  EXPECT_TRUE(contains(run, format_count(static_cast<double>(announced)) + " parameters")) << run.output;
}

TEST_F(TrainVerb, TrainRefuses) {
  const std::string out = " -o " + path("new"), start = "train " + tiny() + out + " --data ";
  refuses("train", 2, "give a recipe, or the weights of a model to start from with --init MODEL");
  refuses("train par-3m-byte", 2, "did you mean 'par-3m-bytes'?");
  refuses("train " + tiny() + out, 2, "--data PATH");
  refuses("train " + tiny() + " --data " + text(), 2, "-o FOLDER");
  fs::create_directories(path("empty"));
  refuses("train " + path("empty") + out + " --data " + text(), 2,
          "is a folder, neither a file nor a recipe");
  refuses(start + path("none"), 2, "does not exist");
  refuses(start + file("empty.txt", ""), 2, "is empty");
  refuses(start + file("one.txt", "x"), 2, "has 1 token, too few");
  refuses(start + file("zeros", std::string(99, '\0')), 2, "is not text: it has NUL bytes");
  refuses(start + path("empty"), 2, "holds no text files");
  file("pictures/logo.png", std::string("\x89PNG\0\0", 6));
  refuses(start + path("pictures"), 2, "logo.png' is not text");
  refuses("train " + tiny() + " --dry-run --epochs 2", 2, "--epochs needs the tokens of the text");
  const std::pair<const char*, const char*> wrong[] = {
      {"--learning-rate nan", "--learning-rate cannot be 'nan'"},
      {"--learning-rate -1", "learning_rate is -1"},
      {"--learning-rtae 1", "did you mean '--learning-rate'?"},
      {"--final-rate 3", "final_rate is 3"},
      {"--warmup -9", "warmup is -9"},
      {"--steps 0", "steps is 0"},
      {"--steps 1.5", "it must be a whole number"},
      {"--max-steps -4", "--max-steps: '-4' was given"},
      {"--batch 0", "batch is 0"},
      {"--chunks 3", "a divisor of the batch"},
      {"--clip -1", "clip is -1"},
      {"--roll maybe", "write true or false"},
      {"--tokens 3X", "such as 5000, 300K, 2.5M or 1B"},
      {"--tokens 0", "--tokens is 0, and one update has 4 x 16 = 64 tokens"},
      {"--tokens 10", "--tokens is 10, and one update has 4 x 16 = 64 tokens"},
      {"--tokens 3K --max-steps 4",
       "--max-steps and --tokens both set the length of the run; give one of them"},
      {"--max-steps 5 --steps 2", "--steps and --max-steps both set the length of the run"},
      {"--steps 5 --steps 2", "--steps was given 2 times, as '5' and '2'; give it once"},
      {"--more-steps 5", "is not a run yet; give --steps to start one"},
      {"--set model.dropuot=0.2", "did you mean 'model.dropout'?"},
      {"--set dropuot=0.2", "'dropuot' is not a setting of a recipe"},
      {"--set dropout=0.2", "did you mean 'model.dropout'?"},
      {"--set model.dropout", "'model.dropout' needs a value; write model.dropout=VALUE"},
      {"--set model.dropout=0 --set model.dropout=0.1", "'model.dropout' is set twice"},
      {"--set training.batch=2 --batch 4", "--batch and --set training.batch give the same setting"},
      {"--set data.tokenizer=bpe --tokenizer words", "--tokenizer and --set data.tokenizer give the same"},
      {"--set training.steps=2 --steps 4", "--steps and --set training.steps give the same setting"},
      {"--set training.steps=2 --tokens 4K", "--set training.steps and --tokens both set the length"},
      {"--set model.dropout=much", "dropout"},
      {"--set model.width=17", "heads"},
      {"--epochs 3 --tokens 4K", "--tokens and --epochs both set the length of the run"},
      {"--epochs 0", "--epochs is 0; it must be above 0"},
      {"--max-time -4", "such as 500ms, 90s, 5m or 1.5h"},
      {"--save-seconds -1", "--save-seconds: '-1' was given"},
      {"--samples -1", "--samples: '-1' was given"},
      {"--vocabulary -3", "--vocabulary: '-3' was given"},
      {"--optimizer adaam", "did you mean 'adam'?"},
      {"--optimizer-settings 3", "--optimizer-settings cannot be '3'"},
      {"--optimizer-settings '{\"beta\": 1}'", "did you mean 'beta1'?"},
      {"--schedule cosin", "did you mean 'cosine'?"},
      {"--tokenizer wrods", "did you mean 'words'?"},
      {"--tokenizer bpe --vocabulary 100", "it needs at least 257"},
      {"--reader plian", "did you mean 'plain'?"},
      {"--decay-from x", "is not one of warmup, start, chained"},
      {"--memory -1", "memory is -1"}};
  for (const auto& [flag, part] : wrong) refuses(start + text() + " " + flag, 2, part);
  EXPECT_FALSE(fs::exists(path("new/config.json")));
  const Outcome diverged = heed(start + text() + " --learning-rate 1e30");
  EXPECT_EQ(diverged.code, 1) << diverged.output;
  EXPECT_TRUE(contains(diverged, "try a smaller learning rate")) << diverged.output;
}

// An epoch is as many updates as the training part has batches.
TEST_F(Verbs, TrainCountsEpochs) {
  const auto steps = [&](const std::string& epochs, const std::string& name) {
    const Outcome outcome = heed("train " + tiny() + " --data " + text() + " -o " + path(name) +
                                 " -t 1 --json --epochs " + epochs);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(Json::parse(content(path(name + "/config.json")))["training"]["steps"],
              Json::parse(outcome.out)["steps"]);
    return Json::parse(outcome.out)["steps"].get<int64_t>();
  };
  const int64_t one = steps("1", "one"), bytes = std::ssize(content(text())) * 9 / 10;
  EXPECT_NEAR(static_cast<double>(one), static_cast<double>(bytes) / (4 * 16), 3);
  EXPECT_EQ(steps("2", "two"), 2 * one);
  EXPECT_EQ(steps("0.001", "little"), 1);
  // The same command finds the same number, and nothing is left to do.
  EXPECT_EQ(steps("1", "one"), one);
}

// Without its line ends inside paragraphs, the likeliest token after a word is a blank.
TEST_F(Verbs, TrainUnwrapsParagraphs) {
  std::string wrapped;
  for (int i = 0; i < 500; ++i) wrapped += "the cat\nsat on\nthe mat.\n\n";
  const std::string book = file("book.txt", wrapped);
  const auto after_cat = [&](const std::string& flags, const std::string& name) {
    const Outcome outcome =
        heed("train " + tiny() + " --data " + book + " -o " + path(name) + " -t 1 --steps 200" + flags);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return Json::parse(heed("predict " + path(name) + " -p 'the cat' --json").out)["predictions"][0]["text"];
  };
  EXPECT_EQ(after_cat("", "as-it-is"), "\n");
  EXPECT_EQ(after_cat(" --unwrap", "unwrapped"), " ");
  // The model remembers how its text was read: scored as it was trained, it knows this book by heart.
  const Json score = Json::parse(heed("eval " + path("unwrapped") + " --data " + book + " --json").out);
  EXPECT_LT(score["bits_per_byte"], 1);
  EXPECT_EQ(content(book), wrapped);
}

}  // namespace
}  // namespace heed::test
