#include <cmath>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

// Enough different words to learn a vocabulary from.
std::string varied_words(int count) {
  std::string words;
  for (int i = 0; i < count; ++i) words += text(i % 997 * 7919 % 4001, i % 11 ? " " : "\n");
  return words;
}

// Planned peak (weights + arena + state) against what the kernel saw, less what the program has before it
// builds anything. oneDNN keeps some memory of its own per thread, whatever the size of the model.
TEST_F(Verbs, PlannedMemoryIsWhatIsUsed) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the sanitizer keeps memory of its own";
#endif
  const std::string sizes[] = {
      R"({"model": {"arch": "(sf)x2", "width": 256, "heads": [4], "inner": [1024], "vocabulary": 8000}})",
      R"({"model": {"arch": "(sf)x4", "width": 512, "heads": [8], "inner": [2048], "vocabulary": 20000}})",
      R"({"model": {"arch": "(sf)x6"}})",
      R"({"model": {"backbone": "transformer-xl", "arch": "(sff)x2", "vocabulary": 20000, "cutoffs": [5000]}})"};
  for (const std::string& spec : sizes) {
    for (const char* mode : {"--forward --batch 1 --length 192", "--batch 4 --length 128 --train",
                             "--batch 4 --length 128 --train --threads 1"}) {
      // Which buffers of oneDNN's threads overlap is chance; the least of three runs is without it.
      double planned = 0, measured = INFINITY;
      for (int run = 0; run < 3; ++run) {
        const Outcome outcome =
            heed("bench " + file("size.json", spec) + " " + mode + " --seconds 0 --least 1 --json");
        ASSERT_EQ(outcome.code, 0) << outcome.output;
        const Json memory = Json::parse(outcome.out)["memory"];
        planned = memory["planned"], measured = std::min<double>(measured, memory["measured"]);
        if (measured - planned < 12.0 * 1024 * 1024) break;
      }
      EXPECT_NEAR(measured, planned, std::max(0.05 * planned, 16.0 * 1024 * 1024)) << spec << " " << mode;
    }
  }
}

// What limits on memory are about: the whole process, by what the kernel says, for models and tokenizers of
// each kind of cost.
TEST_F(Verbs, AProcessThatGeneratesIsPlannedWhole) {
#ifdef HEED_SANITIZED
  GTEST_SKIP() << "the sanitizer keeps memory of its own";
#endif
  constexpr double kMiB = 1 << 20;
  const std::string text = file("text.txt", varied_words(20000));
  const std::string models[] = {
      R"j({"model": {"backbone": "transformer-xl", "arch": "(r)x2", "width": 128, "projection": [64], "vocabulary": 256})j",
      R"j({"model": {"backbone": "transformer-xl", "arch": "(r)x4 (s) (f)", "width": 384, "projection": [128],
          "inner": [1024]})j",
      R"j({"model": {"backbone": "gpt2", "arch": "(sf)x3", "width": 512, "heads": [8], "inner": [2048], "context": 128}, "evaluation": {"memory": 0})j",
      R"j({"model": {"backbone": "transformer-xl", "arch": "(sf)x2", "width": 256, "heads": [4], "inner": [1024]},
          "data": {"tokenizer": "bpe", "vocabulary": 2000})j",
      R"j({"model": {"backbone": "transformer-xl", "arch": "(sf)x2", "width": 256, "heads": [4], "inner": [1024]},
          "data": {"tokenizer": "wordpiece", "vocabulary": 1000})j"};
  int number = 0;
  for (const std::string& model : models) {
    const std::string run = path(heed::text("run", ++number));
    const std::string recipe = file("served.json", model + R"(, "training": {"batch": 2, "length": 32}})");
    const Outcome trained = heed("train " + recipe + " --data " + text + " --steps 1 --samples 0 -o " + run);
    ASSERT_EQ(trained.code, 0) << trained.output;
    const Outcome outcome = heed("generate " + run + " -p \"a few words before\" -n 150 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    const Json json = Json::parse(outcome.out);
    const double planned = json["memory_bytes"], used = json["peak_resident_bytes"];
    EXPECT_LE(used, planned + 0.5 * kMiB) << model;
    EXPECT_GE(used, 0.85 * planned - 4 * kMiB) << model;
    // bench says it of the same process, and not of itself with what it needs for its yardsticks.
    const Outcome timed = heed("bench " + run + " --length 128 --seconds 0 --least 3 --json");
    ASSERT_EQ(timed.code, 0) << timed.output;
    const Json memory = Json::parse(timed.out)[0]["memory"];
    EXPECT_LE(memory["measured"].get<double>(), memory["planned"].get<double>() + 0.5 * kMiB) << model;
    EXPECT_GE(memory["measured"].get<double>(), memory["planned"].get<double>() - 4.5 * kMiB) << model;
  }
}

}  // namespace
}  // namespace heed::test
