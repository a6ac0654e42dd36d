#include "heed/store/checkpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <numeric>
#include <set>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "tests/support/messages.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

// A little model whose numbers all follow from the step.
struct Example {
  explicit Example(int64_t size = 6)
      : weights(static_cast<size_t>(size)), moments(static_cast<size_t>(size)) {
    parameters = {{"w", {weights.data(), {{size / 2, 2}}}}};
    states = {{"w.m", {moments.data(), {{size}}}}, {"count", {count.data(), {{2}, DType::kI32}}}};
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  void set(int64_t step) {
    std::iota(weights.begin(), weights.end(), static_cast<float>(step));
    std::iota(moments.begin(), moments.end(), static_cast<float>(-step));
    count = {static_cast<int32_t>(step), 5};
  }
  bool is(int64_t step) const {
    Example other(static_cast<int64_t>(weights.size()));
    other.set(step);
    return weights == other.weights && moments == other.moments && count == other.count;
  }
  fs::path save(const fs::path& folder, int64_t step, const Retention& retention = {}) {
    set(step);
    return save_checkpoint(folder, step, parameters, states,
                           {{"step", step}, {"best", 0.1 * static_cast<double>(step)}}, retention);
  }

  std::vector<float> weights, moments;
  std::array<int32_t, 2> count{};
  Tensors parameters, states;
};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

std::string message(const std::function<void()>& action) { return test::message_of(action, test::kAnyKind); }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Checkpoint, SaveFindLoad) {
  const TemporaryFolder folder;
  const fs::path checkpoints = folder / "run" / "checkpoints";
  EXPECT_EQ(latest_checkpoint(checkpoints).path, "");
  Example example;
  EXPECT_THROW(example.save(checkpoints, 123), Error) << "the run's folder is not there";
  fs::create_directory(folder / "run");
  EXPECT_EQ(example.save(checkpoints, 123), checkpoints / "step-00000123");
  EXPECT_EQ(names_in(checkpoints / "step-00000123"),
            (std::set<std::string>{"model.safetensors", "progress.json", "state.safetensors"}));
  example.save(checkpoints, 99);
  const LatestCheckpoint latest = latest_checkpoint(checkpoints);
  EXPECT_EQ(latest.path, checkpoints / "step-00000123");
  EXPECT_EQ(latest.step, 123);
  EXPECT_TRUE(latest.notes.empty());

  Example loaded;
  EXPECT_EQ(load_checkpoint(latest.path, loaded.parameters, loaded.states),
            (Json{{"step", 123}, {"best", 0.1 * 123}}));
  EXPECT_TRUE(loaded.is(123));
  Example model_only;
  EXPECT_EQ(load_checkpoint(latest.path, model_only.parameters)["step"], 123);
  EXPECT_EQ(model_only.weights, loaded.weights);
  EXPECT_EQ(model_only.count[1], 0);
}

TEST(Checkpoint, StepsBeyondTheDigitsStayInOrder) {
  const TemporaryFolder folder;
  Example example;
  for (const int64_t step : {99999999, 100000000, 1234567890}) example.save(folder.path(), step, {.keep = 3});
  EXPECT_EQ(latest_checkpoint(folder.path()).step, 1234567890);
  fs::create_directory(folder / "step-5");  // not our spelling
  fs::create_directory(folder / "step-99999999999999999999");
  EXPECT_EQ(latest_checkpoint(folder.path()).step, 1234567890);
}

TEST(Checkpoint, KeepsTheNewestAndTheProtected) {
  const TemporaryFolder folder;
  Example example;
  for (int64_t step = 10; step <= 60; step += 10)
    example.save(folder.path(), step, {.keep = 2, .protect = {20}});
  EXPECT_EQ(names_in(folder.path()),
            (std::set<std::string>{"step-00000020", "step-00000050", "step-00000060"}));
  // Going back: later ones are not counted, and the new one stays in any case.
  example.save(folder.path(), 30, {.keep = 1});
  EXPECT_EQ(names_in(folder.path()),
            (std::set<std::string>{"step-00000030", "step-00000050", "step-00000060"}));
  EXPECT_THROW(example.save(folder.path(), 70, {.keep = 0}), Error);
  EXPECT_THROW(example.save(folder.path(), -1), Error);
}

TEST(Checkpoint, TheSameStepIsReplaced) {
  const TemporaryFolder folder;
  Example example;
  const fs::path path = example.save(folder.path(), 5);
  std::ofstream(path / "model.safetensors") << "damaged";
  example.save(folder.path(), 5);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"step-00000005"}));
  Example loaded;
  load_checkpoint(path, loaded.parameters, loaded.states);
  EXPECT_TRUE(loaded.is(5));
}

TEST(Checkpoint, DamagedOnesAreSkippedByName) {
  for (const std::string file : {"model.safetensors", "state.safetensors", "progress.json"}) {
    for (const std::string damage : {"missing", "empty", "short", "folder"}) {
      const TemporaryFolder folder;
      Example example;
      example.save(folder.path(), 1);
      const fs::path newest = example.save(folder.path(), 2), victim = newest / file;
      if (damage == "short") fs::resize_file(victim, fs::file_size(victim) - 3);
      if (damage == "empty") fs::resize_file(victim, 0);
      if (damage == "missing" || damage == "folder") fs::remove(victim);
      if (damage == "folder") fs::create_directory(victim);
      const LatestCheckpoint latest = latest_checkpoint(folder.path());
      EXPECT_EQ(latest.step, 1) << file << " " << damage;
      ASSERT_EQ(latest.notes.size(), 1u) << file << " " << damage;
      EXPECT_TRUE(contains(latest.notes[0], newest.string() + ": skipped, it is damaged: "))
          << latest.notes[0];
      EXPECT_TRUE(contains(latest.notes[0], file)) << latest.notes[0];
      EXPECT_THROW(load_checkpoint(newest, example.parameters, example.states), Error);
    }
  }
}

TEST(Checkpoint, AnotherArchitectureIsRefusedBeforeAnythingChanges) {
  const TemporaryFolder folder;
  Example example;
  const fs::path path = example.save(folder.path(), 1);
  std::vector<float> a(8, 7), b(6, 7);
  std::vector<int32_t> c(6, 7);
  const Tensor larger{a.data(), {{4, 2}}}, flat{b.data(), {{6}}}, integers{c.data(), {{3, 2}, DType::kI32}};
  const auto loading = [&](const Tensors& parameters, const Tensors& states) {
    return message([&] { load_checkpoint(path, parameters, states); });
  };
  const std::string begin = path.string() + "/model.safetensors: is a checkpoint of another architecture:";
  EXPECT_EQ(loading({{"w", larger}}, example.states),
            begin +
                "\n  'w' is F32[3, 2] there and f32[4, 2] here\nuse the settings it was trained with, or "
                "another folder");
  EXPECT_TRUE(contains(loading({{"w", flat}}, example.states), "'w' is F32[3, 2] there and f32[6] here"));
  EXPECT_TRUE(
      contains(loading({{"w", integers}}, example.states), "'w' is F32[3, 2] there and i32[3, 2] here"));
  EXPECT_TRUE(contains(loading({{"v", flat}}, example.states),
                       "'v' f32[6] is missing there\n  'w' F32[3, 2] is only there"));
  // The parameters would fit, a state does not: they are not touched either.
  example.set(50);
  Tensors states = example.states;
  states["count"].type.shape = {1};
  EXPECT_TRUE(contains(loading(example.parameters, states), "'count' is I32[2] there and i32[1] here"));
  EXPECT_TRUE(example.is(50));
  for (const float untouched : a) EXPECT_EQ(untouched, 7);

  Tensors many;
  for (int i = 0; i < 10; ++i) many[text("t", i)] = flat;
  EXPECT_TRUE(contains(loading(many, example.states), "and 7 more"));
}

TEST(Checkpoint, ProgressMustSurviveTheFile) {
  const TemporaryFolder folder;
  Example example;
  const auto saving = [&](const Json& progress) {
    return message([&] { save_checkpoint(folder.path(), 1, example.parameters, example.states, progress); });
  };
  EXPECT_TRUE(contains(saving({{"best", INFINITY}}), "not finite"));
  EXPECT_TRUE(contains(saving({{"name", "\xFF"}}), "UTF-8"));
  EXPECT_TRUE(contains(saving(Json::array()), "an object was expected"));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Checkpoint, LeftoversOfTheDeadAreRemovedOthersStay) {
  const TemporaryFolder folder;
  Example example;
  example.save(folder.path(), 1);
  fs::create_directory(folder / "step-00000002.999999999.tmp");
  std::ofstream(folder / "step-00000002.999999999.tmp" / "model.safetensors") << "half";
  fs::create_directory(folder /
                       text("step-00000002.", ::getpid(), ".tmp"));  // a process with our number, earlier
  const LatestCheckpoint latest = latest_checkpoint(folder.path());
  EXPECT_EQ(latest.step, 1);
  EXPECT_EQ(latest.notes.size(), 2u);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"step-00000001"}));

  fs::create_directory(folder / text("step-00000003.", ::getpid(), ".tmp"));
  example.save(folder.path(), 3);
  EXPECT_EQ(latest_checkpoint(folder.path()).step, 3);
}

// A process that saves without end, killed at random moments. What it had finished is there, whole.
TEST(Checkpoint, AKilledProcessLeavesTheLastCompleteOne) {
  const TemporaryFolder folder;
  auto* finished = static_cast<std::atomic<int64_t>*>(::mmap(
      nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(finished, MAP_FAILED);
  Rng rng(5);
  constexpr int64_t kNumbers = 50000;
  int64_t step = 0, interrupted = 0;
  for (int round = 0; round < 25; ++round) {
    *finished = step;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        Example example(kNumbers);
        for (int64_t next = step + 1;; ++next) {
          example.save(folder.path(), next);
          *finished = next;
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
    }
    for (int waited_ms = 0; round % 5 == 0 && *finished == step && waited_ms < 10000; ++waited_ms)
      ::usleep(1000);
    ::usleep(static_cast<useconds_t>(rng.below(40000)));
    // A process that saves while others look must not lose what it is writing.
    if (round % 3 == 0) latest_checkpoint(folder.path());
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the process failed by itself";

    interrupted += !latest_checkpoint(folder.path()).notes.empty();
    const LatestCheckpoint latest = latest_checkpoint(folder.path());
    ASSERT_TRUE(latest.notes.empty()) << latest.notes[0];
    ASSERT_GE(latest.step, *finished > 0 ? finished->load() : -1);
    ASSERT_LE(latest.step, *finished + 1);
    for (const std::string& name : names_in(folder.path())) EXPECT_FALSE(name.ends_with(".tmp")) << name;
    if (latest.step < 0) continue;
    Example loaded(kNumbers);
    ASSERT_EQ(load_checkpoint(latest.path, loaded.parameters, loaded.states)["step"], latest.step);
    ASSERT_TRUE(loaded.is(latest.step));
    step = latest.step;
  }
  EXPECT_GT(step, 0) << "the machine was too slow to finish any";
  EXPECT_GT(interrupted, 0) << "no save was interrupted, the test shows nothing";
  ::munmap(finished, sizeof *finished);
}

// Saving step 2 must fail with `reason`; step 1 stays, and nothing else.
void expect_failed_save(const fs::path& folder, const std::string& reason) {
  Example large(1 << 20);
  const std::string said = message([&] { large.save(folder, 2); });
  EXPECT_TRUE(contains(said, "the checkpoint of step 2 was not saved: ")) << said;
  EXPECT_TRUE(contains(said, reason)) << said;
  EXPECT_EQ(names_in(folder), (std::set<std::string>{"step-00000001"}));
  EXPECT_EQ(latest_checkpoint(folder).step, 1);
}

TEST(Checkpoint, AFileThatMayNotGrowLeavesTheEarlierOne) {
  const TemporaryFolder folder;
  Example().save(folder.path(), 1);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{100000, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  expect_failed_save(folder.path(), "File too large");
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, before);
}

TEST(Checkpoint, AFullDiskLeavesTheEarlierOne) {
  const TemporaryFolder folder;
  if (::mount("heed-test", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "a small file system cannot be mounted here: " << std::strerror(errno);
  Example().save(folder.path(), 1);
  expect_failed_save(folder.path(), "No space left on device");
  ::umount(folder.path().c_str());
}

TEST(Checkpoint, AFolderWithoutPermissionIsNamed) {
  const TemporaryFolder folder;
  Example().save(folder.path(), 1);
  fs::permissions(folder.path(), fs::perms(0555));
  const bool root = ::geteuid() == 0;  // whom permissions do not stop
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  expect_failed_save(folder.path(), "Permission denied");
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(folder.path(), fs::perms(0755));

  std::ofstream(folder / "file") << "x";
  EXPECT_TRUE(contains(message([&] { Example().save(folder / "file", 1); }), (folder / "file").string()));
  EXPECT_TRUE(contains(message([&] { Example().save(folder / "file" / "deeper", 1); }), "Not a directory"));
  EXPECT_TRUE(contains(message([&] { latest_checkpoint(folder / "file"); }), "Not a directory"));
}

}  // namespace
}  // namespace heed::store
