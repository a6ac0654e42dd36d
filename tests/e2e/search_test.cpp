#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "heed/base/csv.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

class Searching : public Verbs {
 protected:
  std::string space() const {
    return file("small.toml", R"(
about = "small"
length = 16
[model]
backbone = "transformer-xl"
shared_position_bias = false
vocabulary = 256
[genes]
layers = {from = 1, to = 3}
width = [16, 32]
heads = [2, 4]
inner = {from = 16, to = 64, step = 16}
[training]
batch = 4
length = 16
steps = 5
)");
  }
  std::string command(const std::string& out, const std::string& flags = "") const {
    return "search " + space() + " --profile " + path("p.db") + " --threads 1 -o " + path(out) + " " + flags;
  }
};

TEST_F(Searching, FindsModelsThatTrain) {
  const Outcome outcome = heed(command("run", "--keep 5 --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  const Json& models = json["models"];
  ASSERT_GE(models.size(), 3u);
  EXPECT_EQ(json["baselines"].size(), 3u);
  EXPECT_GE(json["frontier"].get<size_t>(), models.size());
  int best = 0;
  for (const Json& model : models) {
    EXPECT_GT(model["predicted_seconds"], 0);
    EXPECT_GT(model["measured_seconds"]["median"], 0);
    EXPECT_GT(model["planned_bytes"], 4 * model["total_params"].get<int64_t>());
    for (const Json& pick : model["picks"]) best += pick == "best";
  }
  EXPECT_EQ(best, 1);
  const Csv csv(content(path("run/pareto.csv")), "pareto.csv");
  EXPECT_EQ(csv.rows(), models.size());
  EXPECT_EQ(csv.at(0, "name"), "m01");
  // What describe plans is what the table says.
  const Json described = Json::parse(heed("describe " + path("run/models/m01.json") + " --json").out);
  EXPECT_EQ(described["params"]["total"], csv.integer(0, "total_params"));
  const Outcome trained = heed("train " + path("run/pick") + " --data " + text() + " -o " + path("trained"));
  EXPECT_EQ(trained.code, 0) << trained.output;
}

TEST_F(Searching, GoesOnAndEndsTheSame) {
  const std::string flags = "--strategy evolution --iterations 5 --keep 3 --no-baselines";
  ASSERT_EQ(heed(command("whole", flags)).code, 0);
  // Killed again and again, later each time; then let run.
  for (int attempt = 0; attempt < 10; ++attempt) {
    const std::string line =
        heed::text("exec ", HEED_PROGRAM, " ", command("cut", flags), " > ", path("out"), " 2>&1");
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 50 * attempt));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0) << content(path("out"));
    }
  }
  const Outcome last = heed(command("cut", flags));
  ASSERT_EQ(last.code, 0) << last.output;
  const auto specs = [&](const std::string& run) {
    const Csv csv(content(path(run + "/pareto.csv")), "pareto.csv");
    std::string all;
    for (size_t i = 0; i < csv.rows(); ++i) all += csv.at(i, "predicted_ms") + " " + csv.at(i, "spec") + "\n";
    return all;
  };
  EXPECT_EQ(specs("cut"), specs("whole"));
}

TEST_F(Searching, SaysWhichLimitIsInTheWay) {
  ASSERT_EQ(heed(command("run", "--keep 2 --no-baselines")).code, 0);
  refuses(command("a", "--max-latency 1us"), 3, "the limit on latency is in the way. The nearest takes");
  EXPECT_EQ(heed(command("a", "--max-latency 1s --keep 2 --no-baselines")).code, 0);  // in the same folder
  refuses(command("b", "--max-memory 9K"), 3, "the limit on memory is in the way. The nearest takes");
  refuses(command("c", "--max-parameters 10"), 3, "the limit on parameters is in the way. The nearest takes");
  refuses(command("d", "--max-parameters 10 --max-latency 1us"), 3, "loosen them all");
  refuses(command("e", "--max-latency 1us --strategy random"), 3, "the limit on latency is in the way");
}

TEST_F(Searching, KeepsWithinLimits) {
  const Outcome outcome =
      heed(command("run", "--max-memory 150KiB --max-parameters 20K --keep 4 --no-baselines --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_FALSE(json["models"].empty());
  for (const Json& model : json["models"]) {
    EXPECT_LE(model["planned_bytes"], 150 << 10);
    EXPECT_LE(model["total_params"], 20000);
  }
}

TEST_F(Searching, Refuses) {
  refuses("search", 2, "name a space");
  refuses("search lts-tlx -o " + path("x"), 2, "did you mean 'lts-txl'?");
  refuses("search " + space(), 2, "give a folder with -o FOLDER");
  refuses(command("x", "--strategy exakt"), 2, "did you mean 'exact'?");
  refuses(command("x", "--proxy flops"), 2, "exact needs a proxy that sizes tell");
  refuses(command("x", "--max-latency fast"), 2, "a time such as");
  refuses(command("x", "--max-memory lots"), 2, "a size such as");
  refuses(command("x", "--keep 0"), 2, "it must be positive");
  refuses(command("x", "--mutation 2 --strategy evolution"), 2, "is not in [0, 1]");
  refuses("search " + file("bad.toml", "[genes]\nwidth = [") + " -o " + path("x"), 2,
          "not TOML from line 2 on");
  refuses("search " + file("empty.toml", "[genes]\nwidth = 7\nheads = 2\n") + " -o " + path("x"), 2,
          "is empty");
}

TEST_F(Searching, ListsSpaces) {
  const Outcome outcome = heed("search --list");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome, "lts-txl ")) << outcome.out;
  EXPECT_TRUE(contains(outcome, "10^37.5")) << outcome.out;
}

}  // namespace
}  // namespace heed::test
