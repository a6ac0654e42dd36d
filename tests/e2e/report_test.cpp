#include "tests/e2e/support.h"

namespace heed::test {
namespace {

namespace fs = std::filesystem;

class ReportVerb : public Verbs {
 protected:
  static Json document_of(const std::string& page) {
    const std::string before = R"(<script id="document" type="application/json">)";
    const size_t begin = page.find(before) + before.size();
    return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }
  std::string small_space() const {
    return space({{"genes.layer", "[\"sf\", \"r\"]"}, {"genes.width", "16"}, {"genes.projection", "8"}});
  }
};

TEST_F(ReportVerb, ShowsRunsOfEveryKind) {
  const std::string profile = path("p.db");
  ASSERT_EQ(heed("search " + small_space() + " -o " + path("found") + " --profile " + profile +
                 " --keep 3 --no-baselines --max-memory 64MiB")
                .code,
            0);
  ASSERT_EQ(heed("train " + path("found/pick") + " --data " + text() + " -o " + path("run") +
                 " --steps 20 --evaluate-every 10 --batch 4 --length 16 --memory 16 --samples 12")
                .code,
            0);
  ASSERT_EQ(heed("supernet " + tiny() + " --data " + text() + " -o " + path("super") +
                 " --layers 2 --steps 40 --unchanged 0 --seeds 2")
                .code,
            0);
  const std::string table =
      file("t.csv",
           "id,n_layer,d_model,n_head,d_inner,n_token,valid_ppl\n"
           "one,2,64,4,128,1000,50\ntwo,2,64,4,256,1000,40\nthree,2,64,4,512,1000,30\n");
  ASSERT_EQ(heed("rank --table " + table + " --backbone gpt2 -o " + path("ranked")).code, 0);
  const std::string out = path("report.html");
  const Outcome outcome = heed("report " + path("found") + " " + path("run") + " " + path("super") + " " +
                               path("ranked") + " --profile " + profile + " -o " + out);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "report.html: 5 runs, ")) << outcome.output;
  const Json runs = document_of(content(out))["runs"];
  ASSERT_EQ(runs.size(), 5u);
  for (const Json& run : runs) {
    EXPECT_EQ(run["problems"], Json::array()) << run["name"];
    EXPECT_EQ(run["state"], "done") << run["name"];
  }

  const Json& search = runs[0];
  EXPECT_EQ(search["kind"], "search");
  EXPECT_EQ(search["about"], "small");
  EXPECT_EQ(search["limits"]["memory"], 64 << 20);
  EXPECT_TRUE(search["limits"]["latency_ms"].is_null());
  const Json& candidates = search["candidates"];
  const size_t count = candidates["score"].size();
  ASSERT_GT(count, 3u);
  EXPECT_EQ(search["hypervolume"]["evaluations"].back(), count);
  // Every model is the sum of its parts.
  for (size_t i = 0; i < count; ++i) {
    const Json& frame = search["frames"][candidates["frame"][i].get<size_t>()];
    int64_t total = frame["parameters"];
    double ms = frame["ms"];
    for (const Json& place : candidates["blocks"][i]) {
      const Json& block = search["blocks"][place.get<size_t>()];
      total += block["parameters"].get<int64_t>();
      ms += block["ms"].get<double>();
    }
    EXPECT_EQ(total, candidates["total"][i]) << i;
    EXPECT_NEAR(ms, candidates["latency_ms"][i].get<double>(), 1e-9 + 1e-6 * ms) << i;
  }
  // Each has a recipe by its name.
  const std::string named = path("found") + ":" + candidates["key"][count - 1].get<std::string>();
  const Outcome described = heed("describe '" + named + "' --json");
  ASSERT_EQ(described.code, 0) << described.output;
  EXPECT_EQ(Json::parse(described.out)["params"]["total"], candidates["total"][count - 1]) << described.out;
  refuses("describe '" + path("found") + ":16/0/1/256 x4'", 2, "has a layer 'x4' that the space");
  refuses("describe '" + path("found") + ":'", 2, "is not the name of a model of the space");
  bool trained = false;
  const Json result = Json::parse(content(path("found/search.json")));
  EXPECT_EQ(search["models"].size(),
            result["models"].size() + result["dominated"].size() + result["dropped"].size());
  for (const Json& model : search["models"]) {
    EXPECT_EQ(fs::exists(path("found/models/" + model["name"].get<std::string>() + ".json")),
              model["train"] != "");
    trained = trained || !model["trained"].empty();
  }
  EXPECT_TRUE(trained);

  const Json& training = runs[1];
  EXPECT_EQ(training["kind"], "training");
  EXPECT_EQ(training["series"]["step"].size(), 20u);
  EXPECT_EQ(training["valid"]["step"], Json({10, 20}));
  ASSERT_GE(training["samples"].size(), 1u);
  EXPECT_GE(training["samples"][0]["text"].get<std::string>().size(), 40u);

  EXPECT_EQ(runs[2]["kind"], "supernet");
  EXPECT_EQ(runs[2]["seeds"].size(), 2u);
  for (const Json& seed : runs[2]["seeds"]) {
    EXPECT_EQ(seed["by_layer"].get<std::string>().size(), 2u);
    EXPECT_EQ(seed["course"]["by_layer"].back(), seed["by_layer"]);
    EXPECT_EQ(seed["losses"]["step"].back(), 40);
  }
  EXPECT_EQ(runs[3]["kind"], "ranking");
  EXPECT_EQ(runs[3]["models"].size(), 3u);
  EXPECT_EQ(runs[4]["kind"], "device");
  ASSERT_EQ(runs[4]["devices"].size(), 1u);
  EXPECT_GT(runs[4]["devices"][0]["peak_gflops"].get<double>(), 0.1);
  EXPECT_GE(runs[4]["devices"][0]["pieces"].size(), 5u);
}

TEST_F(ReportVerb, DamagedRunsGiveAPageThatSaysSo) {
  const std::string run = trained();
  std::ofstream(run + "/config.json") << "{";
  const Outcome outcome = heed("report " + run + " -o " + path("r.html"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "not JSON")) << outcome.output;
  EXPECT_NE(content(path("r.html")).find("not JSON"), std::string::npos);
  EXPECT_EQ(heed("report " + run + " -o " + path("r.html")).code, 0) << "its own is replaced";
}

TEST_F(ReportVerb, Refuses) {
  const std::string run = trained();
  fs::create_directories(path("empty"));
  refuses("report " + path("empty") + " -o " + path("r.html"), 2, "is empty; give a folder");
  refuses("report " + run + " " + text() + " -o " + path("r.html"), 2, "holds no run; give a folder");
  EXPECT_FALSE(fs::exists(path("r.html")));
  refuses("report " + path("none") + " -o " + path("r.html"), 2, "does not exist; give folders");
  refuses("report " + run + " --profile " + path("none.db") + " -o " + path("r.html"), 2,
          "none.db does not exist");
  refuses("report " + run + " -o " + path("empty"), 2, "is not a file; give one with -o");
  const std::string mine = file("mine.html", "<p>dear reader");
  refuses("report " + run + " -o " + mine, 2, "exists and is not a page of heed");
  EXPECT_EQ(content(mine), "<p>dear reader");
  refuses("report " + run + " -o " + path("none/r.html"), 1, "none/r.html");
}

}  // namespace
}  // namespace heed::test
