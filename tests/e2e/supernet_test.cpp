#include <thread>

#include "heed/base/clock.h"
#include "heed/store/json_file.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

class SupernetVerb : public Verbs {
 protected:
  std::string asking(const std::string& flags, const std::string& out = "found") const {
    return "supernet " + tiny() + " --data " + text() + " -o " + path(out) + " --threads 1 " + flags;
  }
};

constexpr const char* kShort = "--layers 4 --steps 40 --cycle 10 --theta-rate 0.1 ";

TEST_F(SupernetVerb, DryRunStatesMemoryAndTimeBesideTheInterleavedModel) {
  const Outcome outcome = heed("supernet " + tiny() + " --layers 6 --steps 100 --seeds 2 --dry-run");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  for (const char* part :
       {"tiny: 6 layers of sfi", "100 iterations of 4 x 16 tokens", "first 20 for weights only", "2 seeds",
        "of memory, about", "times the operations", "times the memory"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in:\n" << outcome.out;
}

TEST_F(SupernetVerb, FindsAStringThatTrainTakes) {
  const Outcome outcome = heed(asking(std::string(kShort) + "--seeds 2"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.out.find("seed 1: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("seed 2: "), std::string::npos);
  EXPECT_NE(outcome.out.find("per third of the layers, mean and standard deviation"), std::string::npos);
  const std::string next = outcome.out.substr(outcome.out.find("next: heed ") + 11);
  const Outcome trained =
      heed(next.substr(0, next.find(" -o RUN")) + " -o " + path("run") + " --steps 5 --threads 1");
  EXPECT_EQ(trained.code, 0) << trained.output;
  // Asked again it only tells; as JSON it tells the same.
  const Outcome again = heed(asking(std::string(kShort) + "--seeds 2 --json"));
  ASSERT_EQ(again.code, 0) << again.output;
  const Json json = Json::parse(again.out);
  ASSERT_EQ(json["seeds"].size(), 2u);
  EXPECT_NE(outcome.out.find("by layer " + json["seeds"][1]["by_layer"].get<std::string>()),
            std::string::npos);
  EXPECT_EQ(json["probabilities"].size(), 4u);
}

TEST_F(SupernetVerb, InterruptedOrKilledItGoesOnToTheSameEnd) {
  const std::string flags = "--layers 6 --steps 1500 --cycle 10 --theta-rate 0.1 --unchanged 0";
  ASSERT_EQ(heed(asking(flags, "whole")).code, 0);
  for (const int signal : {SIGKILL, SIGINT}) {
    const std::string metrics = path("cut/seed-1/metrics.jsonl");
    const auto size = [&] {
      return std::filesystem::exists(metrics) ? std::filesystem::file_size(metrics) : 0;
    };
    const auto before = size();
    const Child child(asking(flags, "cut"), path("log"));
    for (const double begin = now_seconds();
         now_seconds() - begin < 120 && (size() < 2000 || size() == before);)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    child.send(signal);
    const int status = child.status();
    if (signal == SIGINT) {
      ASSERT_TRUE(WIFEXITED(status));
      EXPECT_EQ(WEXITSTATUS(status), 130);
    }
  }
  const Outcome outcome = heed(asking(flags, "cut"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "resuming from iteration")) << outcome.output;
  for (const char* file : {"theta.jsonl", "found.json", "checkpoints/step-00001500/model.safetensors"})
    EXPECT_EQ(content(path(std::string("cut/seed-1/") + file)),
              content(path(std::string("whole/seed-1/") + file)))
        << file;
}

// As an earlier version left it, when it was a strategy of `heed search`.
TEST_F(SupernetVerb, AnEarlierFolderIsGoneOnWith) {
  ASSERT_EQ(heed(asking(kShort)).code, 0);
  for (const char* name : {"config.json", "run.json"}) {
    Json json = store::read_json_object(path(std::string("found/") + name));
    json.erase("kind");
    if (json.contains("recipe")) json["strategy"] = "supernet";
    store::write_json_object(path(std::string("found/") + name), json);
  }
  const Outcome more = heed(asking(std::string(kShort) + "--seeds 2"));
  EXPECT_EQ(more.code, 0) << more.output;
  EXPECT_NE(more.out.find("seed 2: "), std::string::npos) << more.out;
}

TEST_F(SupernetVerb, WrongUseIsRefused) {
  const std::string start = "supernet ";
  refuses("supernet -o x --data " + text(), 2, "recipe is required");
  refuses(start + "no-such-recipe -o x --data " + text(), 2, "neither a file nor a recipe");
  refuses(start + tiny() + " -o " + path("x"), 2, "give a text to learn from with --data");
  refuses(start + tiny() + " --data " + text(), 2, "give a folder with -o");
  refuses(asking("--letters s"), 2, "a choice needs at least two");
  refuses(asking("--letters sq"), 2, "'q' is not a block");
  refuses(asking("--layers 0"), 2, "layers is 0");
  refuses(asking("--steps 40 --weights-only 40"), 2,
          "logits do not change for the first 40 of 40 iterations");
  refuses(asking("--steps 20 --cycle 500"), 2, "logits would never be updated");
  refuses(asking("--seeds 0"), 2, "--seeds is 0");
  refuses(asking("--latency-term often"), 2, "latency_term");
  refuses(asking("--dry-run --json"), 2, "--dry-run and --json cannot be combined");
  // As it was called before, with or without the flags that moved with it.
  for (const std::string& old : {"search --strategy supernet " + tiny(),
                                 "search " + tiny() + " --layers 4 --strategy supernet --dry-run"})
    refuses(old, 2, "heed supernet RECIPE --data TEXT -o RUN");
  refuses(start + tiny() + " --data " + file("short.txt", "abc") + " -o " + path("x"), 2,
          "too few for batches of 4 x 16");
  EXPECT_FALSE(std::filesystem::exists(path("x/config.json")));
  const std::string supernet =
      file("net.json", R"({"model": {"backbone": "sru++", "arch": "(sfi)x2", "mix": 3,
      "width": 16, "heads": [2], "inner": [32]}, "training": {"batch": 4, "length": 16}})");
  refuses("train " + supernet + " --data " + text() + " -o " + path("y"), 2, "is a supernet");
  refuses(start + supernet + " --data " + text() + " -o " + path("y"), 2, "is a supernet already");
}

}  // namespace
}  // namespace heed::test
