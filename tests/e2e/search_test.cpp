#include <set>

#include "heed/base/clock.h"
#include "heed/base/csv.h"
#include "heed/store/database.h"
#include "heed/store/json_file.h"
#include "tests/e2e/search_support.h"

namespace heed::test {
namespace {

TEST_F(Searching, FindsModelsThatTrain) {
  const Outcome outcome = heed(command("run", "--keep 5 --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  const Json& models = json["models"];
  ASSERT_GE(models.size() + json["dominated"].size(), 3u);
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
  EXPECT_EQ(csv.at(0, "name"), models[0]["name"]);
  // What describe plans is what the table says.
  const Json described =
      Json::parse(heed("describe " + path("run/models/" + csv.at(0, "name") + ".json") + " --json").out);
  EXPECT_EQ(described["params"]["total"], csv.integer(0, "total_params"));
  EXPECT_EQ(heed("describe " + path("run/models/transformer-xl-4-layers.json")).code, 0);
  const Outcome trained = heed("train " + path("run/pick") + " --data " + text() + " -o " + path("trained"));
  EXPECT_EQ(trained.code, 0) << trained.output;
  for (const Json& model : models) {
    EXPECT_GT(model["predicted_step_seconds"], 0);
    EXPECT_GT(model["step_seconds"]["median"], 0);
    EXPECT_GT(model["predicted_first_token_seconds"], model["predicted_seconds"]);
    EXPECT_GT(model["first_token_seconds"]["median"], model["measured_seconds"]["median"]);
    if (model["picks"].empty() || model["picks"][0] != "best") continue;
    const auto bytes =
        static_cast<int64_t>(std::filesystem::file_size(path("trained/model/model.safetensors")));
    EXPECT_LE(bytes, model["file_bytes"].get<int64_t>());
    EXPECT_GE(bytes, 4 * model["total_params"].get<int64_t>());
  }
}

TEST_F(Searching, ScoresModelsOnAText) {
  const Outcome outcome = heed(command("run",
                                       "--strategy random --samples 4 --proxy partial_training --score-steps "
                                       "4 --batch 2 --keep 4 --no-baselines "
                                       "--json --data " +
                                           text()));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["evaluated"], 4);
  for (const Json& model : json["models"]) {
    EXPECT_LT(model["score"], 0);  // minus a loss
    EXPECT_GT(model["score"], -8);
  }
  EXPECT_GE(rows_of(path("run/heed.db")).size(), 4u);
  refuses(command("x", "--strategy random --samples 4 --proxy partial_training"), 2,
          "partial_training learns from a text; give one with --data PATH");
  refuses(command("y", "--proxy partial_training --data " + text()), 2,
          "exact needs a score computed from sizes alone");
}

TEST_F(Searching, ShowsTheScoreThatChoseAndHowFarItIs) {
  const Outcome outcome = heed(command(
      "run",
      "--strategy evolution --population 4 --parents 2 --mutants 2 --crossovers 2 --iterations 3 --proxy "
      "partial_training --score-steps 2 --batch 2 --keep 4 --no-baselines --data " +
          text()));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "of 12 models")) << outcome.output;
  EXPECT_TRUE(contains(outcome, "score: partial_training, minus the loss on held-out text"))
      << outcome.output;
  const Json best = Json::parse(content(path("run/search.json")))["models"][0];
  char shown[40];
  std::snprintf(shown, sizeof shown, " %.4g ", best["score"].get<double>());
  EXPECT_LT(best["score"], 0);
  EXPECT_NE(outcome.out.find(shown), std::string::npos) << shown << " in:\n" << outcome.out;
}

TEST_F(Searching, SaysWhichLimitIsInTheWay) {
  ASSERT_EQ(heed(command("run", "--keep 2 --no-baselines")).code, 0);
  refuses(command("a", "--max-latency 1us"), 3, "the limit on latency is too tight. The nearest: ");
  EXPECT_EQ(heed(command("a", "--max-latency 1s --keep 2 --no-baselines")).code, 0);  // in the same folder
  refuses(command("b", "--max-memory 9K"), 3, "the limit on memory is too tight. The nearest: ");
  refuses(command("c", "--max-parameters 10"), 3, "the limit on parameters is too tight. The nearest: ");
  refuses(command("c", "--max-step-latency 1us"), 3,
          "the limit on the latency of a step is too tight. The nearest: ");
  refuses(command("c", "--max-first-token 1us"), 3,
          "the limit on the time to the first token is too tight. The nearest: ");
  refuses(command("c", "--max-file 1KiB"), 3, "the limit on file size is too tight. The nearest: ");
  refuses(command("c", "--objective soon"), 2, "soon");
  refuses(command("d", "--max-parameters 10 --max-latency 1us"), 3,
          "loosen them all. The smallest: 16/0/1/256");
  // A space that says nothing about itself.
  refuses("search " + Verbs::space({{"about", "\"\""}}) + " --profile " + profile() +
              " --max-parameters 10 -o " + path("c"),
          3, ": 10^");
  for (const char* other : {"--strategy random", "--strategy evolution --proxy flops"})
    refuses(command("e", std::string("--max-latency 1us ") + other), 3, "the limit on latency is too tight");
  refuses(command("f", "--max-latency 0ms"), 2, "a limit of 0 or less");
}

// One model in 10^13 fits: drawing them will not find it, and that is not to say that there is none.
TEST_F(Searching, KnowsWhatChanceDoesNotFind) {
  const std::string wide = Verbs::space({{"length", "8"},
                                         {"model.vocabulary", "64"},
                                         {"genes.layers", "8"},
                                         {"genes.width", "16"},
                                         {"genes.inner", "{from = 16, to = 640, step = 16}"}},
                                        "wide.toml");
  const std::string start = "search " + wide + " --profile " + profile() + " --threads 1 --no-baselines -o ";
  const Outcome outcome = heed(start + path("all") + " --keep 1 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const std::string frontier = content(path("all/frontier.csv"));
  const Csv csv(frontier, "frontier.csv");
  EXPECT_EQ(csv.rows(), Json::parse(outcome.out)["frontier"].get<size_t>());
  int64_t smallest = INT64_MAX;
  for (size_t i = 0; i < csv.rows(); ++i) smallest = std::min(smallest, csv.integer(i, "total_params"));
  for (const char* strategy : {"random", "evolution"})
    refuses(heed::text(start, path("chance"), " --strategy ", strategy, " --max-parameters ", smallest), 3,
            "found no model of wide that fits, but some exist: 16/0/1/64 sf2:16 sf2:16");
}

TEST_F(Searching, GoesOnOnlyWithTheSameSpaceAndThreads) {
  ASSERT_EQ(heed(command("run", "--keep 2 --no-baselines")).code, 0);
  std::string two = command("run", "--keep 2 --no-baselines");
  two.replace(two.find("--threads 1"), 11, "--threads 2");
  refuses(two, 2, "device");
  std::string changed = content(space());
  changed.replace(changed.find("length = 16"), 11, "length = 12");
  const std::string other = file("other/small.toml", changed);
  refuses("search " + other + " --profile " + profile() + " --threads 1 -o " + path("run") +
              " --keep 2 --no-baselines",
          2, "length");
}

TEST_F(Searching, CountsAModelOnce) {
  const Outcome outcome =
      heed(command("run", "--strategy random --samples 3000 --keep 20 --no-baselines --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_LE(json["evaluated"], 1200);  // as many as there are
  std::set<std::string> specs;
  for (const Json& model : json["models"]) EXPECT_TRUE(specs.insert(model["spec"].dump()).second) << model;
  // Nothing listed is beaten by another in everything.
  for (const Json& a : json["models"]) {
    for (const Json& b : json["models"]) {
      EXPECT_FALSE(b["score"] > a["score"] && b["planned_bytes"] < a["planned_bytes"] &&
                   b["measured_seconds"]["median"] < a["measured_seconds"]["median"])
          << a << b;
    }
  }
}

TEST_F(Searching, KeepsWithinLimits) {
  const Outcome outcome =
      heed(command("run",
                   "--max-memory 16MiB --max-parameters 20K --max-file 120KiB --max-step-latency 10s "
                   "--max-first-token 20s "
                   "--keep 4 --no-baselines --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_FALSE(json["models"].empty());
  for (const Json& model : json["models"]) {
    EXPECT_LE(model["planned_bytes"], 16 << 20);
    EXPECT_LE(model["total_params"], 20000);
    EXPECT_LE(model["file_bytes"], 120 << 10);
    EXPECT_LE(model["step_seconds"]["median"], 10);
  }
}

// The frontier of steps, or of first tokens: no model of it has a worse score and a longer wait than another.
TEST_F(Searching, AnyWaitMayBeTheObjective) {
  for (const auto& [objective, column, seconds] :
       {std::tuple{"step", "predicted_step_ms", "step_seconds"},
        {"first-token", "predicted_first_token_ms", "first_token_seconds"}}) {
    const Outcome outcome =
        heed(command(objective, heed::text("--keep 5 --no-baselines --json --objective ", objective)));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    const Csv csv(content(path(objective) + "/frontier.csv"), "frontier.csv");
    ASSERT_GT(csv.rows(), 1u);
    for (size_t a = 0; a < csv.rows(); ++a) {
      for (size_t b = 0; b < csv.rows(); ++b)
        EXPECT_FALSE(csv.number(a, "score") < csv.number(b, "score") &&
                     csv.number(a, column) > csv.number(b, column) &&
                     csv.number(a, "planned_bytes") > csv.number(b, "planned_bytes"))
            << objective << " " << a << " " << b;
    }
    const Json models = Json::parse(outcome.out)["models"];
    for (size_t i = 1; i < models.size(); ++i)
      EXPECT_LE(models[i - 1][seconds]["median"], models[i][seconds]["median"]) << objective;
  }
}

// A profile that is too good to be true: sums are a third of what models take.
TEST_F(Searching, WarnsOfABusyMachine) {
  ASSERT_EQ(heed(command("first", "--keep 3 --no-baselines")).code, 0);
  std::filesystem::copy_file(profile(), path("p.db"));
  store::Database(path("p.db")).execute("UPDATE timings SET median = median / 3");
  std::string second = command("second", "--keep 3 --no-baselines");
  second.replace(second.find(profile()), profile().size(), path("p.db"));
  const Outcome outcome = heed(second);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "times what was predicted: the machine was busy while they were measured"))
      << outcome.output;
}

// What is recorded of the slowest model that was measured: this many seconds in each of the first rounds.
void record_slowest(const std::string& folder, int rounds, const std::string& seconds) {
  std::string numbers = "(0)";
  for (int round = 1; round < rounds; ++round) numbers += heed::text(", (", round, ")");
  store::Database(folder + "/heed.db")
      .execute(heed::text(
          "INSERT OR REPLACE INTO measurements (key, round, median, low, high, runs, bytes, yardstick) "
          "SELECT slowest.key, numbers.column1, ",
          seconds, ", ", seconds, ", ", seconds, ", 5, 0, 0 FROM (VALUES ", numbers,
          ") AS numbers, (SELECT key FROM measurements WHERE key NOT LIKE 'load %' AND key NOT LIKE '%step%' "
          "GROUP BY key "
          "ORDER BY MIN(median) DESC LIMIT 1) AS slowest"));
}

// Of the fastest and the best model the best is recorded to have been measured beyond the limit, again and
// again.
TEST_F(Searching, DropsWhatIsMeasuredBeyondALimitAndComesNearItFromBelow) {
  const std::string again = command("run", "--keep 2 --no-baselines --json --max-latency 10s");
  const Outcome first = heed(again);
  ASSERT_EQ(first.code, 0) << first.output;
  record_slowest(path("run"), 50, "11");
  const Outcome outcome = heed(again);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json before = Json::parse(first.out), json = Json::parse(outcome.out);
  EXPECT_TRUE(before["dropped"].empty());
  ASSERT_EQ(json["dropped"].size(), 1u);
  EXPECT_EQ(json["dropped"][0]["measured_seconds"]["median"], 11);
  const auto count = [](const Json& j) {
    return j["models"].size() + j["dominated"].size() + j["dropped"].size();
  };
  EXPECT_GT(count(json), count(before));  // another was tried in its place
  for (const Json& model : json["models"]) EXPECT_LE(model["measured_seconds"]["median"], 10);
}

TEST_F(Searching, ANoisyTimingDoesNotDropAModel) {
  const std::string again = command("run", "--keep 3 --no-baselines --json --max-latency 10s");
  ASSERT_EQ(heed(again).code, 0);
  record_slowest(path("run"), 5, "11");
  const Json json = Json::parse(heed(again).out);
  EXPECT_TRUE(json["dropped"].empty()) << json["dropped"];
  for (const Json& model : json["models"]) EXPECT_LT(model["measured_seconds"]["median"], 1);
}

TEST_F(Searching, AFinishedFolderIsMeasuredAgain) {
  const Outcome first = heed(command("run", "--keep 3 --no-baselines --json --max-latency 10s"));
  ASSERT_EQ(first.code, 0) << first.output;
  record_slowest(path("run"), 5, "9");  // within the limit, so it would stay
  const std::string again = "search " + path("run") + " --profile " + profile() + " --threads 1 --json";
  const Json json = Json::parse(heed(again + " --measure-again").out);
  for (const Json& model : json["models"]) EXPECT_LT(model["measured_seconds"]["median"], 1);
  EXPECT_EQ(json["evaluated"], Json::parse(first.out)["evaluated"]);
}

// The profile says that models are three times as fast as they are, and the limit is between.
TEST_F(Searching, RecommendsNothingOnAMachineThatIsBusy) {
  const Json first = Json::parse(heed(command("first", "--keep 3 --no-baselines --json")).out);
  std::filesystem::copy_file(profile(), path("p.db"));
  store::Database(path("p.db")).execute("UPDATE timings SET median = median / 3");
  const double slowest = first["models"].back()["measured_seconds"]["median"];
  std::string second =
      command("second", heed::text("--keep 3 --no-baselines --max-latency ", 0.6e6 * slowest, "us"));
  second.replace(second.find(profile()), profile().size(), path("p.db"));
  const Outcome outcome = heed(second);
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_TRUE(contains(outcome, "times what was predicted, so those that fit are much smaller than need be"))
      << outcome.output;
}

TEST_F(Searching, HoldsALimitAtAPercentile) {
  const Outcome outcome =
      heed(command("run", "--keep 3 --no-baselines --json --max-latency 10s --percentile 95"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "limits: 10.0 s for a prompt of 16 tokens in 95% of runs")) << outcome.output;
  const Json json = Json::parse(outcome.out);
  for (const Json& model : json["models"])
    EXPECT_GE(model["measured_seconds"]["held"], model["measured_seconds"]["median"]);
}

TEST_F(Searching, RefusesALimitWithoutAUnitAndImpossibleOnesAtOnce) {
  refuses(command("a", "--max-latency 5"), 2, "--max-latency is 5 without a unit; 5ms or 5s?");
  const double begin = now_seconds();
  std::string fresh = command("b", "--max-latency 0.001us");
  fresh.replace(fresh.find(profile()), profile().size(), path("new.db"));
  refuses(fresh, 3, "the limit on latency is too tight");
  refuses(command("c", "--max-memory 1MiB"), 3, "the limit on memory is too tight");
  EXPECT_LT(now_seconds() - begin, 10);
}

// As an earlier version left it: without a kind, and with the settings of every strategy.
TEST_F(Searching, AnEarlierFolderIsGoneOnWith) {
  const std::string asked = command("run", "--strategy random --samples 20 --keep 2 --no-baselines --json");
  const Json first = Json::parse(heed(asked).out);
  Json config = store::read_json_object(path("run/config.json"));
  config["space_says"] = config["space_definition"];
  config["settings"] = config["strategy_settings"];
  config["settings"]["population"] = 100;
  config.erase("space_definition"), config.erase("strategy_settings");
  store::write_json_object(path("run/config.json"), config);
  Json record = store::read_json_object(path("run/run.json"));
  EXPECT_EQ(record["kind"], "search");
  record.erase("kind");
  store::write_json_object(path("run/run.json"), record);
  const Outcome again = heed(asked);
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(Json::parse(again.out)["models"], first["models"]);
  refuses(command("run", "--strategy random --samples 21 --keep 2 --no-baselines"), 2,
          "'strategy_settings.samples' was 20 and is 21 now");
  EXPECT_EQ(heed("describe '" + path("run") + ":16/0/1/256 sf2:16'").code, 0);
  // Nor is it taken for a run of another verb.
  refuses("train " + tiny() + " --data " + text() + " -o " + path("run"), 2, "was made by `heed search`");
  EXPECT_FALSE(std::filesystem::exists(path("run/tokenizer.json")));
}

TEST_F(Searching, Refuses) {
  refuses("search", 2, "name a space");
  refuses("search lts-tlx -o " + path("x"), 2, "did you mean 'lts-txl'?");
  refuses("search " + space(), 2, "give a folder with -o FOLDER");
  refuses(command("x", "--strategy exakt"), 2, "did you mean 'exact'?");
  refuses(command("x", "--proxy flops"), 2, "exact needs a score computed from sizes alone");
  refuses(command("x", "--max-latency fast"), 2, "a time such as");
  refuses(command("x", "--max-memory lots"), 2, "a size such as");
  refuses(command("x", "--keep 0"), 2, "it must be positive");
  refuses(command("x", "--population 5"), 2, "--population belongs to --strategy evolution; this is exact");
  refuses(command("x", "--seed 5"), 2, "--seed belongs to --strategy evolution, random; this is exact");
  refuses(command("x", "--strategy evolution --samples 5"), 2, "--samples belongs to --strategy random");
  refuses(command("x", "--mutation 2 --strategy evolution"), 2, "is not in [0, 1]");
  refuses("search " + file("bad.toml", "[genes]\nwidth = [") + " -o " + path("x"), 2, "not TOML: line 2");
  refuses("search " + file("empty.toml", "[genes]\nwidth = 7\nheads = 2\n") + " -o " + path("x"), 2,
          "is empty");
}

TEST_F(Searching, ListsSpaces) {
  const Outcome outcome = heed("search --list");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome, "lts-txl ")) << outcome.out;
  EXPECT_TRUE(contains(outcome, "10^37.5")) << outcome.out;
  const Json json = Json::parse(heed("search --list --json").out);
  const auto txl =
      std::find_if(json.begin(), json.end(), [](const Json& s) { return s["name"] == "lts-txl"; });
  ASSERT_NE(txl, json.end());
  EXPECT_NEAR((*txl)["log10_models"].get<double>(), 37.5, 0.05);
}

}  // namespace
}  // namespace heed::test
