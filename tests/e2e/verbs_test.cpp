// Every verb, end to end: exit code, output, one wrong use.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heed/base/fields.h"
#include "heed/cli/verb.h"
#include "tests/support/command.h"

namespace heed {
namespace {

using test::contains;
using test::heed;
using test::Outcome;

class Verbs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("heed-e2e-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(Verbs, Describe) {
  const Outcome outcome = heed("describe gpt2-124m --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.output);
  EXPECT_EQ(json["params"]["total"], 124439808);
  // packed: the vocabulary is padded to whole panels of 64
  EXPECT_EQ(json["memory"]["weights"].get<int64_t>(), 4 * (124439808ll + (50304 - 50257) * 768));
  // 2 per multiply-add: weights of the blocks and the head once per token, attention over the whole square
  EXPECT_EQ(json["flops"]["forward"].get<double>(),
            2.0 * 192 * (12 * 12 * 768.0 * 768 + 50257.0 * 768) + 4.0 * 192 * 192 * 768 * 12);
  EXPECT_TRUE(contains(heed("describe gpt2-124m"), "124439808"));
  const Json training = Json::parse(heed("describe gpt2-124m --batch 4 --length 256 --json").output);
  EXPECT_LT(training["training_memory"]["peak"].get<double>(), 2.6e9);
}

TEST_F(Verbs, DescribeRefuses) {
  Outcome outcome = heed("describe gpt2-124n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "did you mean 'gpt2-124m'?")) << outcome.output;
  outcome = heed("describe " + file("bad.json", "{\"widht\": 3}"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "did you mean 'width'?")) << outcome.output;
  outcome = heed("describe " + file("heads.json", "{\"width\": 500, \"heads\": [8]}"));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "width 500 is not a multiple of heads 8; try 496 or 504")) << outcome.output;
  outcome = heed("describe " + file("half.json", "{\"width\": "));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "not JSON")) << outcome.output;
  outcome = heed("describe gpt2-124m --length 2000");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "1 to 1024 positions")) << outcome.output;
}

TEST_F(Verbs, BenchForwardAndTraining) {
  const Outcome outcome = heed("bench gpt2-bytes-3m --length 64 --seconds 0 --least 2 --profile --threads 1");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  for (const char* part :
       {"tokens/s", "planned", "measured", "linear", "attention", "in matrix products", "1 thread,"}) {
    EXPECT_TRUE(contains(outcome, part)) << part << " in:\n" << outcome.output;
  }
  const Outcome trained =
      heed("bench gpt2-bytes-3m --length 32 --batch 2 --train --seconds 0 --least 2 --json");
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_GT(Json::parse(trained.output)["tokens_per_second"].get<double>(), 0);
  const Json profiled =
      Json::parse(heed("bench gpt2-bytes-3m --length 32 --seconds 0 --least 2 --json --profile").output);
  EXPECT_GT(profiled["profile"]["products_share"].get<double>(), 0);
  EXPECT_LT(profiled["profile"]["products_share"].get<double>(), 1);
  EXPECT_EQ(heed("bench gpt2-bytes-3m --least 0").code, 2);
  EXPECT_EQ(heed("bench gpt2-bytes-3m --threads 0").code, 2);
  EXPECT_EQ(heed("bench").code, 2);
}

TEST_F(Verbs, EveryInstructionSetCanBeForced) {
  const Outcome v3 = heed("bench gpt2-bytes-3m --length 32 --seconds 0 --least 1", "HEED_ISA=v3");
  EXPECT_EQ(v3.code, 0) << v3.output;
  EXPECT_TRUE(contains(v3, "AVX2")) << v3.output;
  const Outcome unknown = heed("bench gpt2-bytes-3m", "HEED_ISA=v9");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown, "v3 (AVX2) or v4 (AVX-512)")) << unknown.output;
}

TEST_F(Verbs, ThreadsFollowTheCoresAllowed) {
  const Outcome one = heed("bench gpt2-bytes-3m --length 32 --seconds 0 --least 1", "taskset -c 0");
  EXPECT_TRUE(contains(one, "(1 thread, 1 core allowed")) << one.output;
  const Outcome bound = heed("bench gpt2-bytes-3m --length 32 --seconds 0 --least 1", "OMP_PROC_BIND=true");
  const Outcome free = heed("bench gpt2-bytes-3m --length 32 --seconds 0 --least 1");
  const auto threads = [](const Outcome& o) {
    return o.output.substr(o.output.find('('), o.output.find("allowed") - o.output.find('('));
  };
  EXPECT_EQ(threads(bound), threads(free));
}

TEST_F(Verbs, RunsThroughAnExplicitLoader) {
  FILE* pipe = popen("/lib64/ld-linux-x86-64.so.2 " HEED_PROGRAM " describe gpt2-bytes-3m 2>&1", "r");
  ASSERT_NE(pipe, nullptr);
  while (fgetc(pipe) != EOF) {
  }
  EXPECT_EQ(pclose(pipe), 0);
}

TEST_F(Verbs, TrainLearns) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "the cat sat on the mat. ";
  const Outcome outcome = heed("train gpt2-bytes-3m --data " + file("text.txt", text) +
                               " --batch 4 --length 32 --steps 40 --warmup 5 --learning-rate 0.003");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "step 40/40")) << outcome.output;
  const size_t at = outcome.output.find("held-out text costs ");
  ASSERT_NE(at, std::string::npos) << outcome.output;
  EXPECT_LT(std::stod(outcome.output.substr(at + 20)), 2.0)
      << outcome.output;  // 8 bits before, 4 for single letters
}

TEST_F(Verbs, TrainRefuses) {
  const std::string text = file("text.txt", "some text");
  Outcome outcome = heed("train gpt2-bytes-3m --data " + text);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "too few for a batch")) << outcome.output;
  outcome = heed("train gpt2-bytes-3m --data " + file("empty.txt", ""));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "holds 0 bytes")) << outcome.output;
  outcome = heed("train gpt2-bytes-3m --data /does/not/exist");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "No such file")) << outcome.output;
  outcome = heed("train gpt2-bytes-3m --data " + folder_.string());
  EXPECT_EQ(outcome.code, 2);
  outcome = heed("train gpt2-bytes-3m");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "--data")) << outcome.output;
  outcome = heed("train gpt2-bytes-3m --optimizer adaam --data " + text);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "did you mean 'adam'?")) << outcome.output;
  outcome = heed("train gpt2-124m --batch 10000 --length 1024 --dry-run");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome, "are needed")) << outcome.output;
  EXPECT_EQ(heed("train gpt2-124m --batch 4 --length 256 --dry-run").code, 0);
  for (const char* wrong : {"--learning-rate nan", "--learning-rate -1", "--final-share -3", "--warmup -9",
                            "--steps 0", "--batch 0", "--clip -1"}) {
    outcome = heed(std::string("train gpt2-bytes-3m --dry-run ") + wrong);
    EXPECT_EQ(outcome.code, 2) << wrong << ": " << outcome.output;
  }
  outcome = heed("train gpt2-bytes-3m --data " + file("short.txt", std::string(20000, 'x')));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "the held-out twentieth of")) << outcome.output;
}

TEST_F(Verbs, TheProgramItself) {
  EXPECT_EQ(heed("--version").code, 0);
  EXPECT_EQ(heed("--help").code, 0);
  EXPECT_EQ(heed("").code, 2);
  EXPECT_EQ(heed("fly").code, 2);
  EXPECT_EQ(heed("train gpt2-bytes-3m --no-such-flag").code, 2);
}

// Planned peak (weights + arena + state) against what the kernel saw, less what the program has before it
// builds anything.
TEST_F(Verbs, PlannedMemoryIsWhatIsUsed) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the sanitizer keeps memory of its own";
#endif
  const std::string sizes[] = {
      "{\"layers\": 2, \"width\": 256, \"heads\": [4], \"inner\": [1024], \"vocabulary\": 8000}",
      "{\"layers\": 4, \"width\": 512, \"heads\": [8], \"inner\": [2048], \"vocabulary\": 20000}",
      "{\"layers\": 6, \"width\": 768, \"heads\": [12], \"inner\": [3072]}"};
  for (const std::string& spec : sizes) {
    for (const char* mode : {"--batch 1 --length 192", "--batch 4 --length 128 --train",
                             "--batch 4 --length 128 --train --threads 1"}) {
      const Outcome outcome =
          heed("bench " + file("size.json", spec) + " " + mode + " --seconds 0 --least 1 --json");
      ASSERT_EQ(outcome.code, 0) << outcome.output;
      const Json memory = Json::parse(outcome.output)["memory"];
      const double planned = memory["planned"], measured = memory["measured"];
      EXPECT_NEAR(measured, planned, std::max(0.05 * planned, 16.0 * 1024 * 1024)) << spec << " " << mode;
    }
  }
}

TEST(Coverage, NoVerbIsLeftOut) {
  std::ifstream file(HEED_SOURCE_DIR "/tests/e2e/verbs_test.cpp");
  const std::string source(std::istreambuf_iterator<char>(file), {});
  for (const auto& verb : cli::verbs()) {
    EXPECT_NE(source.find("heed(\"" + verb.name + " "), std::string::npos)
        << "no end-to-end test runs 'heed " << verb.name << "'";
  }
}

}  // namespace
}  // namespace heed
