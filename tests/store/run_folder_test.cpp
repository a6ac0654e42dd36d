#include "heed/store/run_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "heed/base/files.h"
#include "heed/store/json_file.h"
#include "tests/support/messages.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

const Json kConfig = {{"model", {{"width", 512}, {"heads", {8, 4}}}}, {"training", {{"rate", 0.1}}}};
const Json kRecord = {{"version", "0.1"}, {"seed", 7}};
const Json kStated = {{"version", "0.1"}, {"seed", 7}, {"kind", "train"}};

std::string message(const fs::path& path, const Json& config) {
  return test::message_of([&] { RunFolder(path, RunKind::kTrain, config, kRecord); }, test::kAnyKind);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunFolder, IsMadeAndOpenedAgain) {
  const TemporaryFolder folder;
  const fs::path path = folder / "runs" / "first";
  {
    const RunFolder run(path, RunKind::kTrain, kConfig, kRecord);
    EXPECT_FALSE(run.reopened());
    EXPECT_EQ(run.checkpoints(), path / "checkpoints");
    EXPECT_EQ(read_json_object(path / "config.json"), kConfig);
    EXPECT_EQ(read_json_object(path / "run.json"), kStated);
  }
  const Json second = {{"version", "0.2"}};
  const RunFolder run(path, RunKind::kTrain, kConfig, second);
  EXPECT_TRUE(run.reopened());
  Json both = kStated;
  both["resumed"] = Json::array({second});
  EXPECT_EQ(run.record(), both);
  EXPECT_EQ(read_json_object(path / "run.json"), both);
}

TEST(RunFolder, OtherSettingsAreRefusedByName) {
  const TemporaryFolder folder;
  EXPECT_EQ(message(folder.path(), kConfig), "");
  const auto changed = [&](auto&& change) {
    Json config = kConfig;
    change(config);
    return message(folder.path(), config);
  };
  EXPECT_EQ(
      changed([](Json& config) { config["model"]["width"] = 256; }),
      folder.path().string() +
          ": was started with other settings: 'model.width' was 512 and is 256 now; use another folder, "
          "or the "
          "same settings to resume");
  EXPECT_TRUE(contains(changed([](Json& config) { config["model"]["heads"][1] = 2; }),
                       "'model.heads' was [8,4] and is [8,2] now"));
  EXPECT_TRUE(contains(changed([](Json& config) { config["model"]["extra"] = "x"; }),
                       "'model.extra' was not set and is \"x\" now"));
  EXPECT_TRUE(contains(changed([](Json& config) { config["training"].erase("rate"); }),
                       "'training.rate' was 0.1 and is not set now"));
  EXPECT_TRUE(contains(changed([](Json& config) { config["training"] = 1; }),
                       "'training' was {\"rate\":0.1} and is 1"));
  EXPECT_EQ(message(folder.path(), kConfig), "");
  EXPECT_FALSE(read_json_object(folder / "run.json").at("resumed").empty());

  std::ofstream(folder / "config.json") << "{\"model\":";
  EXPECT_TRUE(contains(message(folder.path(), kConfig), "config.json: is not JSON"));
}

TEST(RunFolder, AnotherKindOfRunIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(message(folder.path(), kConfig), "");
  try {
    RunFolder(folder.path(), RunKind::kSearch, {{"space", "letters"}}, kRecord);
    ADD_FAILURE() << "a search went on in the folder of a training";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.what(), text("`heed search` was asked for, but ", folder.path().string(),
                                 " was made by `heed train`; give another folder, or continue with `heed "
                                 "train`"));
  }
  EXPECT_EQ(message(folder.path(), kConfig), "") << "the folder is as it was";
  write_json_object(folder / "run.json", {{"kind", "translate"}});
  EXPECT_TRUE(contains(message(folder.path(), kConfig), "of the kind \"translate\", which this version"));
}

// As earlier versions left them, without a kind in run.json.
TEST(RunFolder, TheFilesOfEarlierRunsTellTheirKind) {
  const TemporaryFolder folder;
  const auto kind = [&](const std::string& name, const Json& config, const std::string& file = "") {
    fs::create_directories(folder / name);
    if (!config.is_null()) write_json_object(folder / name / "config.json", config);
    if (!file.empty()) std::ofstream(folder / name / file) << "{}";
    write_json_object(folder / name / "run.json", kRecord);
    return run_kind(folder / name);
  };
  EXPECT_EQ(run_kind(folder / "none"), std::nullopt);
  EXPECT_EQ(kind("killed", Json()), std::nullopt);
  write_json_object(folder / "killed" / "run.json", kStated);
  EXPECT_EQ(run_kind(folder / "killed"), std::nullopt) << "a start that was killed";
  EXPECT_EQ(kind("train", kConfig), RunKind::kTrain);
  EXPECT_EQ(kind("search", {{"space", "letters"}, {"strategy", "exact"}}, "heed.db"), RunKind::kSearch);
  EXPECT_EQ(kind("supernet", {{"strategy", "supernet"}, {"recipe", kConfig}}), RunKind::kSupernet);
  EXPECT_EQ(kind("damaged supernet", {{"recipe", kConfig}}, "settings.json"), RunKind::kSupernet);
  EXPECT_EQ(kind("rank", {{"ranking", {{"table", "models.csv"}}}}), RunKind::kRank);
  EXPECT_EQ(kind("older rank", Json(), "ranking.json"), RunKind::kRank);
  // They are gone on with, and say it from then on.
  EXPECT_EQ(message(folder / "train", kConfig), "");
  EXPECT_EQ(read_json_object(folder / "train" / "run.json").value("kind", ""), "train");
  EXPECT_TRUE(contains(message(folder / "search", kConfig), "was made by `heed search`"));
}

TEST(RunFolder, AStartThatIsRefusedLeavesNothing) {
  const TemporaryFolder folder;
  const auto kept = [&](const std::string& name, const Error& error, bool results = false) {
    RunFolder run(folder / name, RunKind::kTrain, kConfig, kRecord);
    const auto body = [&] {
      std::ofstream(folder / name / "tokenizer.json") << "{}";
      throw error;
    };
    EXPECT_THROW(run.begin(body, [&] { return results; }), Error);
    const bool left = fs::exists(folder / name / "config.json");
    EXPECT_EQ(fs::exists(folder / name / "tokenizer.json"), left);
    return left;
  };
  for (const Error& refused : {usage_error("no"), infeasible_error("no"), system_error("no")})
    EXPECT_FALSE(kept("refused", refused));
  EXPECT_TRUE(kept("results", usage_error("no"), true));
  EXPECT_TRUE(kept("interrupted", interrupted_error("stop")));
  EXPECT_TRUE(kept("interrupted", usage_error("no"))) << "it was a run before";
}

TEST(RunFolder, FoldersOfSomethingElseAreRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder / "thesis.txt") << "mine";
  EXPECT_TRUE(contains(message(folder.path(), kConfig), "holds files but no config.json"));
  EXPECT_TRUE(contains(message(folder / "thesis.txt", kConfig), "the folder cannot be created"));
  fs::remove(folder / "thesis.txt");
  std::ofstream(folder / "run.json") << "{}";  // a start that was killed
  std::ofstream(folder / "config.json.17.tmp") << "{";
  EXPECT_EQ(message(folder.path(), kConfig), "");
}

TEST(RunFolder, WhatKilledProcessesLeftIsTakenAwayOnceTheFolderIsKnown) {
  const TemporaryFolder folder;
  EXPECT_EQ(message(folder.path(), kConfig), "");
  fs::create_directories(folder / "model.123.tmp" / "deeper");
  fs::create_directories(folder / "cache");
  fs::create_directories(folder / "checkpoints" / "step-00000001.5.tmp");
  for (const char* file :
       {"tokenizer.json.4.tmp", "cache/tokens.77.tmp", "notes.tmp", "draft.a1.tmp", "12.tmp"})
    std::ofstream(folder / file) << "x";
  EXPECT_NE(message(folder.path(), {{"other", 1}}), "");
  EXPECT_TRUE(fs::exists(folder / "model.123.tmp")) << "of a run that was refused";
  EXPECT_EQ(message(folder.path(), kConfig), "");
  for (const char* gone : {"model.123.tmp", "tokenizer.json.4.tmp", "cache/tokens.77.tmp"})
    EXPECT_FALSE(fs::exists(folder / gone)) << gone;
  for (const char* kept : {"notes.tmp", "draft.a1.tmp", "12.tmp", "cache", "checkpoints/step-00000001.5.tmp"})
    EXPECT_TRUE(fs::exists(folder / kept)) << kept;
}

TEST(RunFolder, MetricsAreReadableAtOnceAndCutOnResume) {
  const TemporaryFolder folder;
  const fs::path file = folder / "metrics.jsonl";
  {
    RunFolder run(folder.path(), RunKind::kTrain, kConfig, kRecord);
    run.metrics().append({{"event", "start"}});
    for (int step = 1; step <= 5; ++step) {
      run.metrics().append({{"step", step}, {"loss", 1.0 / step}});
      EXPECT_EQ(read_lines(file).size(), static_cast<size_t>(1 + step));
    }
    run.metrics().append({{"step", 5}, {"text", "\xFF\n"}, {"loss", NAN}});
    run.metrics().sync();
  }
  std::ofstream(file, std::ios::app) << R"({"step": 6, "lo)";
  EXPECT_EQ(read_lines(file).size(), 7u);
  RunFolder run(folder.path(), RunKind::kTrain, kConfig, kRecord);
  EXPECT_EQ(fs::file_size(file), [&] {
    uintmax_t size = 0;
    for (const Json& line : read_lines(file)) size += line.dump().size() + 1;
    return size;
  }());
  run.metrics().cut_after(3);
  run.metrics().append({{"step", 4}, {"loss", 9}});
  const std::vector<Json> lines = read_lines(file);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], (Json{{"event", "start"}}));
  EXPECT_EQ(lines[3], (Json{{"step", 3}, {"loss", 1.0 / 3}}));
  EXPECT_EQ(lines[4], (Json{{"step", 4}, {"loss", 9}}));
  run.metrics().cut_after(0);
  EXPECT_EQ(read_lines(file).size(), 1u);
}

TEST(RunFolder, DamagedMetrics) {
  const TemporaryFolder folder;
  EXPECT_EQ(message(folder.path(), kConfig), "");
  const fs::path file = folder / "metrics.jsonl";
  std::ofstream(file) << "{\"step\":1}\n{\"step\"\n";
  EXPECT_EQ(message(folder.path(), kConfig), "");
  EXPECT_EQ(fs::file_size(file), 11u) << "a last line that is no JSON is dropped";
  std::ofstream(file) << "{\"step\":1}\nwhat\n{\"step\":2}\n";
  EXPECT_TRUE(contains(message(folder.path(), kConfig), "metrics.jsonl: line 2 is not a JSON object"));
}

TEST(RunFolder, ALineThatDoesNotFitLeavesNothing) {
  const TemporaryFolder folder;
  RunFolder run(folder.path(), RunKind::kTrain, kConfig, kRecord);
  run.metrics().append({{"step", 1}});
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{20, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(run.metrics().append({{"step", 2}, {"text", "longer than that"}}), Error);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, before);
  run.metrics().append({{"step", 2}});
  EXPECT_EQ(read_lines(folder / "metrics.jsonl").size(), 2u);
}

TEST(RunFolder, TwoProcessesRefusePolitely) {
  const TemporaryFolder folder;
  {
    const RunFolder run(folder.path(), RunKind::kTrain, kConfig, kRecord);
    const std::string expected = text(folder.path().string(), ": process ", ::getpid(),
                                      " is using this folder; wait for it to end, or use another folder");
    EXPECT_EQ(message(folder.path(), kConfig), expected);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(message(folder.path(), kConfig) == expected ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(message(folder.path(), kConfig), "") << "free again";

  // Killed while it had the lock.
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunFolder run(folder.path(), RunKind::kTrain, kConfig, kRecord);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(contains(message(folder.path(), kConfig), text("process ", child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(message(folder.path(), kConfig), "");
}

}  // namespace
}  // namespace heed::store
