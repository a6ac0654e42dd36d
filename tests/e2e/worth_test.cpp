#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "heed/base/clock.h"
#include "heed/base/philox.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

class LearningWorth : public Verbs {
 protected:
  // 28 models of two kinds of layers.
  std::string two_kinds() const {
    return space({{"genes.layer", R"(["r", "sf"])"}, {"genes.projection", "[8, 16]"}});
  }
  std::string book() const {
    std::string text;
    for (int i = 0; text.size() < 60000; ++i)
      text += "Bird " + std::to_string(i * 7919 % 1000) + " sat on branch " + std::to_string(i % 13) +
              " and sang.\n";
    return file("book.txt", text);
  }
  std::string command(const std::string& run, const std::string& more = "--models 14 --tokens 320") const {
    return "worth " + book() + " --space " + two_kinds() + " -o " + path(run) + " " + more;
  }
  // Lets `whole` end, kills `cut` several times at moments that chance chooses within its time, and lets it
  // end.
  void expect_goes_on(const std::string& whole, const std::string& cut, uint64_t seed) const {
    const double begin = now_seconds();
    ASSERT_EQ(heed(whole).code, 0);
    const auto microseconds = static_cast<int64_t>(1e6 * (now_seconds() - begin));
    Rng rng(seed);
    int killed = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const Child child(cut, path("out"));
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(microseconds / 3)));
      child.send(attempt % 2 ? SIGTERM : SIGKILL);
      killed += child.status() != 0;
    }
    EXPECT_GT(killed, 1);
    const Outcome last = heed(cut);
    ASSERT_EQ(last.code, 0) << last.output;
  }
  Json law(const std::string& run) const { return Json::parse(content(path(run + "/law.json"))); }
};

TEST_F(LearningWorth, FitsALawThatASearchUses) {
  const Outcome outcome = heed(command("run"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "14 models of")) << outcome.output;
  EXPECT_TRUE(contains(outcome, "Spearman's coefficient")) << outcome.output;
  const Json json = law("run");
  ASSERT_EQ(json["models"].size(), 14u);
  for (const Json& model : json["models"]) {
    EXPECT_EQ(model["moments"].back()["tokens"], 320);
    EXPECT_GT(model["moments"].back()["bits_per_byte"], 1);
    EXPECT_LT(model["moments"].back()["bits_per_byte"], 9);
  }
  const Json ranking = Json::parse(content(path("run/ranking.json")));
  EXPECT_EQ(ranking["models"].size(), 14u);
  EXPECT_EQ(ranking["proxies"][0]["name"], "worth");
  ASSERT_EQ(heed("report " + path("run") + " -o " + path("report.html")).code, 0);
  // The table alone gives the same law.
  const Outcome table =
      heed("worth --table " + path("run/models.csv") + " --space " + two_kinds() + " --json");
  ASSERT_EQ(table.code, 0) << table.output;
  EXPECT_EQ(Json::parse(table.out)["law"]["letters"].size(), json["law"]["letters"].size());
  EXPECT_NEAR(Json::parse(table.out)["quality"]["error"], json["quality"]["error"].get<double>(), 0.01);
  // The law of another run is judged by them.
  const Outcome judged = heed("worth --table " + path("run/models.csv") + " --space " + two_kinds() +
                              " --law " + path("run") + " --json");
  ASSERT_EQ(judged.code, 0) << judged.output;
  EXPECT_GE(Json::parse(judged.out)["spearman"], Json::parse(table.out)["quality"]["spearman"]);
  refuses("worth " + book() + " --law letters -o " + path("x"), 2, "give them with --table FILE.csv");
  // Once more: nothing is trained, and the law is the same.
  ASSERT_EQ(heed(command("run")).code, 0);
  EXPECT_EQ(law("run"), json);
  const Outcome found =
      heed("search " + two_kinds() + " --proxy worth --law " + path("run") + " --train-tokens 640 -o " +
           path("found") + " --profile " + profile() + " --no-baselines --keep 3 --json");
  ASSERT_EQ(found.code, 0) << found.output;
  const Json best = Json::parse(found.out)["models"].back();
  EXPECT_LT(best["score"], 0);  // minus bits per byte
  EXPECT_EQ(Json::parse(content(path("found/pick")))["training"]["steps"], 10);
  refuses("search " + two_kinds() + " --proxy worth -o " + path("x") + " --profile " + profile(), 2,
          "has no law of worth; give one with --law");
}

// The best of some models that were trained for a while is recommended, and its training goes on.
TEST_F(LearningWorth, FinalistsAreTrainedAndThePickGoesOn) {
  ASSERT_EQ(heed(command("run")).code, 0);
  const std::string search = "search " + two_kinds() + " --law " + path("run") +
                             " --train-tokens 6400 --data " + book() + " --finalists 1s -o " + path("found") +
                             " --profile " + profile() + " --no-baselines --keep 3";
  const Outcome outcome = heed(search);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "finalists, trained on")) << outcome.output;
  const Json found = Json::parse(content(path("found/search.json")));
  double best = INFINITY, picked = INFINITY;
  int64_t longest = 0;
  for (const char* list : {"models", "dominated"}) {
    for (const Json& model : found[list]) {
      if (model["trained"].empty()) continue;
      const Json last = model["trained"].back();
      if (last["tokens"] < longest) continue;
      if (last["tokens"] > longest) best = INFINITY;
      longest = last["tokens"];
      best = std::min<double>(best, last["bits_per_byte"]);
      if (!model["picks"].empty() && model["picks"][0] == "best") picked = last["bits_per_byte"];
    }
  }
  EXPECT_EQ(picked, best);
  // Once more: the same, without training.
  ASSERT_EQ(heed(search).code, 0);
  EXPECT_EQ(Json::parse(content(path("found/search.json")))["models"], found["models"]);
  // The training goes on, and ends with the weights of one that was not interrupted.
  const Outcome on = heed("train " + path("found/pick") + " --data " + book() + " -o " + path("on"));
  ASSERT_EQ(on.code, 0) << on.output;
  EXPECT_TRUE(contains(on, "its training continues")) << on.output;
  EXPECT_TRUE(contains(on, "resuming from step")) << on.output;
  const std::string copy = file("copy.json", content(path("found/pick")));
  ASSERT_EQ(heed("train " + copy + " --data " + book() + " -o " + path("anew")).code, 0);
  EXPECT_EQ(content(path("on/checkpoints/step-00000100/model.safetensors")),
            content(path("anew/checkpoints/step-00000100/model.safetensors")));
  EXPECT_NE(content(path("on/checkpoints/step-00000100/model.safetensors")), "");
  refuses("search " + two_kinds() + " --finalists 1s -o " + path("x") + " --profile " + profile(), 2,
          "give --data TEXT, and --law if the space has none");
}

TEST_F(LearningWorth, KilledAtAnyMomentEndsWithTheSameLaw) {
  expect_goes_on(command("whole"), command("cut"), 12);
  EXPECT_EQ(law("cut")["law"], law("whole")["law"]);
  EXPECT_EQ(law("cut")["quality"], law("whole")["quality"]);
}

// Published arrangements take no longer than the pick, and are trained as long as it was.
TEST_F(LearningWorth, ThePickIsComparedWithPublishedArrangements) {
  const std::string three_kinds = space({{"genes.layer", R"(["a", "r", "sf", "sff"])"},
                                         {"genes.projection", "[4, 8, 16]"},
                                         {"genes.layers", "[1, 2, 3, 4, 5, 6]"}});
  const std::string search = "search " + three_kinds + " --law letters --train-tokens 640 --data " + book() +
                             " --finalists 0s --compare 1m -o " + path("found") + " --profile " + profile() +
                             " --no-baselines --keep 3";
  const Outcome outcome = heed(search);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "against published arrangements")) << outcome.output;
  const Json found = Json::parse(content(path("found/search.json")));
  Json pick;
  for (const Json& model : found["models"]) {
    if (!model["picks"].empty() && model["picks"][0] == "best") pick = model;
  }
  std::map<std::string, std::string> arch;
  for (const Json& rival : found["rivals"]) {
    arch[rival["name"]] = rival["spec"]["arch"];
    EXPECT_LE(rival["predicted_seconds"].get<double>(), 1.021 * pick["predicted_seconds"].get<double>())
        << rival;
    EXPECT_EQ(rival["trained"].back()["tokens"], pick["trained"].back()["tokens"]) << rival;
    EXPECT_EQ(heed("describe " + path("found/models/" + rival["name"].get<std::string>() + ".json")).code, 0);
  }
  // Which of them are fast enough depends on the machine; recurrence alone, which the pick consists of, is.
  ASSERT_TRUE(arch.contains("sru")) << outcome.output;
  EXPECT_EQ(arch["sru"].find_first_not_of("(r)x0123456789"), std::string::npos) << arch["sru"];
  ASSERT_EQ(heed(search).code, 0);
  EXPECT_EQ(Json::parse(content(path("found/search.json")))["rivals"], found["rivals"]);
  refuses("search " + three_kinds + " --law letters --compare 1m -o " + path("x") + " --profile " + profile(),
          2, "give --data TEXT");
}

// A search that is given a text and time to fit does what `heed worth` and a search by its law do.
TEST_F(LearningWorth, ASearchFitsALawOfItsOwn) {
  const std::string search = "search " + two_kinds() +
                             " --genes 'projection = [8, 16, 24, 32]' --train-tokens 640 --data " + book() +
                             " --finalists 0s --profile " + profile() + " --no-baselines --keep 3";
  const Outcome outcome = heed(search + " --fit 30s -o " + path("found"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "fitting a law of worth to")) << outcome.output;
  ASSERT_EQ(heed(search + " --law " + path("found/worth") + " -o " + path("by-law")).code, 0);
  // Each keeps the law that it searched by.
  const Json fitted = Json::parse(content(path("found/worth/law.json")))["law"];
  for (const char* folder : {"found", "by-law"})
    EXPECT_EQ(Json::parse(content(path(folder) + "/law.json"))["law"], fitted) << folder;
  EXPECT_EQ(content(path("found/frontier.csv")), content(path("by-law/frontier.csv")));
  EXPECT_EQ(content(path("found/pick")), content(path("by-law/pick")));
  EXPECT_EQ(heed(search + " --fit 30s -o " + path("found")).code, 0);
  // Too short a training to spend time on a law; the space's own holds.
  const std::string with_law = file("own.toml", "law = \"letters\"\n" + content(two_kinds()));
  const Outcome own = heed("search " + with_law + " --data " + book() + " --finalists 0s --profile " +
                           profile() + " --no-baselines --keep 3 -o " + path("own"));
  ASSERT_EQ(own.code, 0) << own.output;
  EXPECT_FALSE(contains(own, "fitting a law")) << own.output;
  EXPECT_EQ(Json::parse(content(path("own/config.json")))["proxy"], "worth");
  refuses("search " + two_kinds() + " --fit 30s -o " + path("x") + " --profile " + profile(), 2,
          "give --fit with --data TEXT");
}

TEST_F(LearningWorth, ASearchChoosesHowMuchToTrainInATime) {
  const std::string search = "search " + two_kinds() + " --law letters --data " + book() +
                             " --finalists 0s --profile " + profile() + " --no-baselines --keep 3";
  const Outcome outcome = heed(search + " --train-time 1h -o " + path("found"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  // Any of these models sees all of the text four times in an hour.
  EXPECT_TRUE(contains(outcome, "in 1 h 00 min it is best to train on")) << outcome.output;
  EXPECT_TRUE(contains(outcome, "more text would help")) << outcome.output;
  const int64_t steps = Json::parse(content(path("found/pick")))["training"]["steps"];
  EXPECT_GT(steps * 64, 3 * 50'000);
  ASSERT_EQ(heed(search + " --train-time 1h -o " + path("found")).code, 0);
  // In less time, fewer.
  const Outcome hurried = heed(search + " --train-time 20ms -o " + path("hurried"));
  ASSERT_EQ(hurried.code, 0) << hurried.output;
  EXPECT_LT(Json::parse(content(path("hurried/pick")))["training"]["steps"], steps);
  refuses(search + " --train-time 1us -o " + path("x"), 3, "the fewest that a model can be chosen for");
  refuses(search + " --train-time 1h --train-tokens 5K -o " + path("x"), 2, "neither --train-tokens");
  refuses("search " + two_kinds() + " --law letters --train-time 1h -o " + path("x"), 2, "give --data TEXT");
}

TEST_F(LearningWorth, ASearchKilledAtAnyMomentEndsWithTheSamePick) {
  ASSERT_EQ(heed(command("run")).code, 0);
  // The same timings for both, and no limits: what is measured again in the second does not decide.
  const auto search = [&](const std::string& folder) {
    return "search " + two_kinds() + " --law " + path("run") + " --train-tokens 6400 --data " + book() +
           " --finalists 60s -o " + path(folder) + " --profile " + profile() + " --no-baselines --keep 3";
  };
  ASSERT_EQ(heed(search("first")).code, 0);
  expect_goes_on(search("whole"), search("cut"), 5);
  EXPECT_EQ(content(path("cut/pick")), content(path("whole/pick")));
}

TEST_F(LearningWorth, Refuses) {
  refuses(command("x", "--models 3"), 2, "--models is 3; a law needs at least 12");
  refuses(command("x", "--models 5000"), 2, "different models; give a space with more values");
  refuses(command("x", "--models 14 --budget 1us"), 2, "give a --budget of at least");
  refuses(command("out-of-time", "--models 14 --tokens 2K --budget 20ms"), 2,
          "and a law needs 12; give a longer --budget");
  refuses(
      "worth " + file("short.txt", "too short") + " --space " + two_kinds() + " --models 14 -o " + path("x"),
      2, "short.txt");
  refuses("worth " + path("missing.txt") + " --space " + two_kinds() + " --models 14 -o " + path("x"), 2,
          "missing.txt does not exist");
  refuses("worth " + book() + " --space " + two_kinds(), 2, "give a folder with -o FOLDER");
  // Losses per byte of a text whose words are mostly unknown.
  const std::string words = space({{"genes.layer", R"(["r", "sf"])"},
                                   {"genes.projection", "[8, 16]"},
                                   {"model.vocabulary", "20"},
                                   {"data.tokenizer", "\"words\""}},
                                  "words.toml");
  refuses("worth " + book() + " --space " + words + " --models 14 --tokens 320 -o " + path("w"), 2,
          "of the tokens are unknown words, at most 0.1% may be where losses are compared per byte");
  EXPECT_FALSE(std::filesystem::exists(path("w/m001")));
  refuses("worth", 2, "give a text to train on, or a table");
  refuses("worth --table " + file("few.csv", "text,model,tokens,bits_per_byte,last,spec\n"), 2,
          "has 0 trained models; a law needs at least 12");
  refuses("worth --table " + file("other.csv", "a,b\n1,2\n"), 2,
          "column text is missing; give a models.csv that `heed worth` wrote");
  refuses("worth --table " + file("bad.csv", "text,model,tokens,bits_per_byte,last,spec\nt,m,1,2,1,{}}\n"), 2,
          "bad.csv: line 2");
}

}  // namespace
}  // namespace heed::test
