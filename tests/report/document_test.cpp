// Runs as a document: what each kind of folder says, and what is told of folders that say it badly.
#include "heed/report/document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "heed/base/csv.h"
#include "heed/base/files.h"
#include "heed/base/toml.h"
#include "heed/measure/device_profile.h"
#include "heed/report/page.h"
#include "heed/report/views.h"
#include "heed/report/worth_json.h"
#include "heed/search/block_table.h"
#include "heed/search/records.h"
#include "heed/spec/recipe.h"
#include "heed/store/database.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"
#include "tests/support/small_models.h"
#include "tests/support/small_space.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

class Documents : public testing::Test {
 protected:
  // A run of so many steps as training leaves it, with an evaluation after each tenth.
  fs::path training(const std::string& name, int64_t steps, int64_t planned) const {
    spec::Recipe recipe;
    recipe.model = test::small_model("transformer-xl", "(sf)x2");
    recipe.training.steps = planned;
    const fs::path run = folder_ / name;
    fs::create_directories(run);
    store::write_json_object(run / "config.json", spec::to_json(recipe));
    store::write_json_object(run / "run.json", {{"data", {{"path", "/texts/book.txt"}}}});
    std::ofstream metrics(run / "metrics.jsonl");
    for (int64_t step = 1; step <= steps; ++step) {
      metrics << Json{{"step", step},
                      {"loss", 8.0 / static_cast<double>(step)},
                      {"norm", 1.5},
                      {"rate", 0.01},
                      {"tokens", 64 * step},
                      {"seconds", 0.5 * static_cast<double>(step)},
                      {"tokens_per_second", 128}}
              << "\n";
      if (step % 10 == 0)
        metrics << Json{{"step", step},
                        {"seconds", 0.5 * static_cast<double>(step)},
                        {"valid",
                         {{"loss", 9.0 / static_cast<double>(step)}, {"tokens", 500}, {"best", true}}}}
                << "\n";
    }
    return run;
  }

  static bool tells(const Json& run, const std::string& part) {
    return run["problems"].dump().find(part) != std::string::npos;
  }

  TemporaryFolder folder_;
};

TEST_F(Documents, TrainingIsReadStepByStep) {
  const Json run = read_run(training("run", 25, 40));
  EXPECT_EQ(run["kind"], "training");
  EXPECT_EQ(run["name"], "run");
  EXPECT_EQ(run["state"], "stopped");
  EXPECT_EQ(run["problems"], Json::array());
  EXPECT_EQ(run["unit"], "bpc");
  EXPECT_EQ(run["text"], "/texts/book.txt");
  EXPECT_EQ(run["steps"], 40);
  EXPECT_EQ(run["parameters"], model::count_parameters(test::small_model("transformer-xl", "(sf)x2")).total);
  EXPECT_EQ(run["series"]["step"].size(), 25u);
  EXPECT_EQ(run["series"]["loss"][1], 4.0);
  EXPECT_EQ(run["valid"]["step"], Json({10, 20}));
  EXPECT_EQ(run["valid"]["tokens"], Json({640, 1280}));
  EXPECT_EQ(read_run(training("whole", 40, 40))["state"], "done");
}

// Whatever a run's length, with the steps that stand out.
TEST_F(Documents, LongRunsAreShownByTheirOutline) {
  const fs::path run = training("run", 0, 30000);
  {
    std::ofstream metrics(run / "metrics.jsonl");
    for (int step = 1; step <= 30000; ++step) {
      const double loss = step == 12345 ? 9 : step == 23456 ? 0.5 : 3 + 1.0 / step;
      metrics << text(R"({"step":)", step, R"(,"loss":)", loss, R"(,"norm":)", step == 777 ? "1e6" : "1.25",
                      R"(,"rate":0.01,"tokens":)", 64 * step, R"(,"seconds":1,"tokens_per_second":)",
                      step == 5000 ? 1 : 100, "}\n");
      if (step % 10 == 0)
        metrics << text(R"({"step":)", step, R"(,"seconds":1,"valid":{"loss":)", step == 7770 ? 1 : 4,
                        R"(,"tokens":500,"best":false}})", "\n");
    }
    std::ofstream samples(run / "samples.jsonl");
    for (int step = 1; step <= 1000; ++step) samples << text(R"({"step":)", step, R"(,"text":"so"})", "\n");
  }
  const Json json = read_run(run);
  const Json& series = json["series"];
  EXPECT_LE(series["step"].size(), 2002u);
  EXPECT_EQ(series["recorded"], 30000);
  EXPECT_EQ(series["step"].front(), 1);
  EXPECT_EQ(series["step"].back(), 30000);
  std::map<int, size_t> places;
  for (size_t i = 0; i < series["step"].size(); ++i) places[series["step"][i].get<int>()] = i;
  EXPECT_EQ(places.size(), series["step"].size());
  ASSERT_TRUE(places.contains(12345) && places.contains(23456) && places.contains(777) &&
              places.contains(5000));
  EXPECT_EQ(series["loss"][places[12345]], 9);
  EXPECT_EQ(series["norm"][places[777]], 1e6);
  EXPECT_EQ(series["tokens_per_second"][places[5000]], 1);
  EXPECT_LE(json["valid"]["step"].size(), 1002u);
  EXPECT_EQ(json["valid"]["recorded"], 3000);
  const std::vector<double> losses = json["valid"]["loss"];
  EXPECT_EQ(*std::ranges::min_element(losses), 1);
  EXPECT_LE(json["samples"].size(), 201u);
  EXPECT_EQ(json["samples"].back()["step"], 1000);
  EXPECT_EQ(json["samples_recorded"], 1000);
  EXPECT_LT(json.dump().size(), 400000u);
}

TEST(Outline, HoldsWhatStandsOutAndBothEnds) {
  const std::vector<double> up = {5, 1, 2, NAN, 9, 3, 3, 3, 3, 3}, down = {0, 0, 0, 0, 0, 0, 0, -1, NAN, 0};
  const auto list = [](const std::vector<double>& values) {
    return [&values](size_t at) { return values[at]; };
  };
  EXPECT_EQ(outline(10, 10, {list(up)}).size(), 10u);
  EXPECT_EQ(outline(10, 2, {list(up)}), (std::vector<size_t>{0, 1, 4, 9}));
  EXPECT_EQ(outline(10, 4, {list(up), list(down)}), (std::vector<size_t>{0, 1, 4, 7, 9}));
  EXPECT_EQ(outline(10, 4, {list(up)}), (std::vector<size_t>{0, 1, 4, 5, 9}));
  EXPECT_TRUE(outline(0, 4, {list(up)}).empty());
  const std::vector<double> nothing(10, NAN);
  EXPECT_EQ(outline(10, 4, {list(nothing)}), (std::vector<size_t>{0, 9}));
}

TEST_F(Documents, ARunThatGrowsOrGoesBackIsReadOn) {
  const fs::path run = training("run", 25, 40);
  RunReader reader(run);
  EXPECT_EQ(reader.read(), read_run(run));
  std::ofstream(run / "metrics.jsonl", std::ios::app)
      << R"({"step": 26, "loss": 1, "tokens": 2000})"
      << "\n"
      << R"({"step": 26, "seconds": 1, "valid": {"loss": 2, "tokens": 1, "best": false}})"
      << "\n"
      << R"({"step": 27, "loss": null})"
      << "\n";
  std::ofstream(run / "samples.jsonl") << R"({"step": 26, "text": "so"})"
                                       << "\n";
  Json json = reader.read();
  EXPECT_EQ(json, read_run(run));
  EXPECT_EQ(json["series"]["step"].back(), 26);
  EXPECT_EQ(json["valid"]["tokens"].back(), 2000);
  EXPECT_TRUE(tells(json, "line 30 without a number")) << json["problems"];
  EXPECT_EQ(reader.read(), json);
  {
    store::RunFolder open(run, store::RunKind::kTrain, store::read_json_object(run / "config.json"),
                          Json::object());
    open.metrics().cut_after(12);
  }
  fs::remove(run / "samples.jsonl");
  json = reader.read();
  EXPECT_EQ(json["series"]["step"].size(), 12u);
  EXPECT_EQ(json["valid"]["step"], Json({10}));
  EXPECT_EQ(json["samples"], Json::array());
  EXPECT_EQ(reader.read(), read_run(run));
  // Another run in the same place.
  fs::remove_all(run);
  EXPECT_EQ(reader.read()["kind"], "unreadable");
  training("run", 3, 40);
  EXPECT_EQ(reader.read(), read_run(run));
}

TEST(Thinned, HoldsBothEndsAndNoMoreThanAsked) {
  for (const size_t count : {0, 1, 2, 9, 10, 11, 99, 100, 101, 12345}) {
    const auto places = thinned(count, 10);
    EXPECT_LE(places.size(), 11u) << count;
    EXPECT_EQ(places.empty(), count == 0);
    if (places.empty()) continue;
    EXPECT_EQ(places.front(), 0u) << count;
    EXPECT_EQ(places.back(), count - 1) << count;
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end(), std::less_equal())) << count;
  }
}

TEST_F(Documents, ARunThatGoesOnSaysSo) {
  const fs::path run = training("run", 5, 40);
  {
    const store::RunFolder open(run, store::RunKind::kTrain, store::read_json_object(run / "config.json"),
                                Json::object());
    EXPECT_EQ(read_run(run)["state"], "running");
  }
  EXPECT_EQ(read_run(run)["state"], "stopped");
}

TEST_F(Documents, WhatIsDamagedIsToldAndTheRestIsShown) {
  const fs::path run = training("run", 25, 40);
  std::ofstream(run / "metrics.jsonl", std::ios::app) << "{\"step\": 26, \"lo\n{\"step\": 27}\n";
  Json json = read_run(run);
  EXPECT_TRUE(tells(json, "metrics.jsonl: line 28 is not a JSON object")) << json["problems"];
  EXPECT_EQ(json["series"]["step"].size(), 25u);
  std::ofstream(run / "metrics.jsonl") << "{\"step\": \"one\"}\n";
  json = read_run(run);
  EXPECT_EQ(json["kind"], "training");
  EXPECT_TRUE(tells(json, "line 1 without a number for step or loss; left out")) << json["problems"];
  // What is not finite becomes null on its way into a file.
  training("run", 25, 40);
  std::ofstream(run / "metrics.jsonl", std::ios::app)
      << R"({"step": 26, "loss": null})"
      << "\n"
      << R"({"step": 26, "seconds": 1, "valid": {"loss": null, "tokens": 1, "best": false}})"
      << "\n";
  json = read_run(run);
  EXPECT_TRUE(tells(json, "line 28 and 1 more without a number")) << json["problems"];
  EXPECT_EQ(json["series"]["step"].size(), 25u);
  EXPECT_EQ(json["valid"]["step"].size(), 2u);
  fs::remove(run / "metrics.jsonl");
  json = read_run(run);
  EXPECT_EQ(json["state"], "empty");
  EXPECT_TRUE(tells(json, "metrics.jsonl")) << json["problems"];
  std::ofstream(run / "config.json") << "{";
  json = read_run(run);
  EXPECT_EQ(json["kind"], "unreadable");
  EXPECT_TRUE(tells(json, "config.json")) << json["problems"];
}

// What cannot be built, or counts beyond 64 bits further on, is told like any other damage.
TEST_F(Documents, NumbersOfADamagedSearchAreTold) {
  const fs::path run = folder_ / "found";
  fs::create_directories(run);
  const Json space = {{"model", {{"backbone", "gpt2"}, {"vocabulary", 100}}}};
  store::write_json_object(run / "config.json",
                           {{"space", "s"}, {"space_says", space}, {"strategy", "random"}, {"proxy", "p"}});
  const auto read_with = [&](const std::string& row) {
    fs::remove(run / "heed.db");
    const store::Database database(run / "heed.db");
    database.execute("CREATE TABLE evaluations (key, score, latency, decoder, total, resident, arena)");
    database.execute("INSERT INTO evaluations VALUES (" + row + ")");
    return read_run(run);
  };
  EXPECT_EQ(read_with("'768/0/1/100 sf12:3072', 1, 1, 1, 1, 1, 1")["problems"], Json::array());
  EXPECT_TRUE(tells(read_with("'768/0/0/100 sf12:3072', 1, 1, 1, 1, 1, 1"), "division is 0"));
  EXPECT_TRUE(tells(read_with("'768/0/1/100 sf', 1, 1, 1, 1, 1, 1"), "heads is 0"));
  EXPECT_TRUE(
      tells(read_with("'768/0/1/100 sf12:3072', 1, 1, 1, 1, 9223372036854775807, 1"), "is it damaged?"));
  fs::remove(run / "heed.db");
  std::ofstream(run / "heed.db").flush();
  Json model = to_json(spec::ModelSpec());
  model["heads"] = {0};
  const Json times = {{"median", 1}, {"low", 1}, {"high", 1}};
  store::write_json_object(run / "search.json", {{"models", {{{"spec", model}, {"measured_seconds", times}}}},
                                                 {"dominated", Json::array()},
                                                 {"dropped", Json::array()},
                                                 {"baselines", Json::array()}});
  EXPECT_TRUE(tells(read_run(run), "heads is 0"));
}

TEST_F(Documents, WhatIsNoRunIsTold) {
  EXPECT_TRUE(tells(read_run(folder_ / "none"), "does not exist"));
  fs::create_directories(folder_ / "empty");
  EXPECT_TRUE(tells(read_run(folder_ / "empty"), "is empty; give a folder"));
  std::ofstream(folder_ / "letter.txt") << "dear reader";
  EXPECT_TRUE(tells(read_run(folder_ / "letter.txt"), "holds no run; give a folder"));
  std::ofstream(folder_ / "profile.db") << std::string(5000, 'x');
  EXPECT_TRUE(tells(read_run(folder_ / "profile.db"), "not a database"));
  fs::create_directories(folder_ / "search");
  std::ofstream(folder_ / "search/heed.db") << "x";
  EXPECT_TRUE(tells(read_run(folder_ / "search"), "config.json"));
  std::ofstream(folder_ / "search/config.json") << R"({"space": "old"})";
  EXPECT_TRUE(tells(read_run(folder_ / "search"), "made by an earlier version of heed; search again"));
  fs::create_directories(folder_ / "rank");
  std::ofstream(folder_ / "rank/ranking.json")
      << R"({"models": [{}], "proxies": [{"name": "x", "scores": []}]})";
  EXPECT_TRUE(tells(read_run(folder_ / "rank"), "0 scores for 1 models"));
  // A document of nothing but these is still one.
  const Json all = document({read_run(folder_ / "empty"), read_run(folder_ / "none")}, "1.2.3");
  EXPECT_EQ(all["runs"].size(), 2u);
  EXPECT_EQ(all["version"], "1.2.3");
}

TEST_F(Documents, ASearchUnderWayShowsWhatIsMeasured) {
  const Json says =
      parse_toml(test::small_space({{"model.vocabulary", "100"}, {"genes.heads", "[2, 4]"}}), "t");
  const spec::Space space = spec::read_space(says, "t");
  const fs::path run = folder_ / "found";
  fs::create_directories(run);
  store::write_json_object(
      run / "config.json",
      {{"space", "t"}, {"space_says", says}, {"strategy", "random"}, {"proxy", "effective_params"}});
  search::Records records(run);
  const auto found = [&](const std::string& name, const std::string& key, double score) {
    const spec::Candidate candidate = space.candidate_of(key);
    const search::Evaluated e{candidate, {0.002, 500, 1000, 2000, 3000}, score};
    records.save({{key, e}}, {"{}"});
    return search::FoundModel{name, e, space.model_of(candidate), 4000, {}, 0, {}};
  };
  const auto first = found("m01", "16/0/1/100 sf2:16", 3), second = found("m02", "32/0/1/100 sf4:32", 4),
             known = found("twelve layers", "32/0/1/100 sf4:32 sf4:32", 5);
  const auto key = [](const search::FoundModel& model) { return measure::piece_key(model.model, {16}); };
  EXPECT_EQ(read_run(run)["models"], Json::array());
  records.save(key(first), first, search::ModelRole::kModel);
  records.save(key(second), second, search::ModelRole::kModel);
  records.save(key(known), known, search::ModelRole::kBaseline);
  EXPECT_EQ(read_run(run)["models"], Json::array());
  records.save(key(first), 0, {{0.004, 0.003, 0.005, 5}, 7000});
  Json models = read_run(run)["models"];
  ASSERT_EQ(models.size(), 1u) << models;
  EXPECT_EQ(models[0]["name"], "m01");
  EXPECT_EQ(models[0]["measured_ms"], 4.0);
  records.save(key(known), 0, {{0.006, 0.005, 0.007, 5}, 6000});
  records.save(key(first), 1, {{0.006, 0.002, 0.007, 5}, 6000});
  const Json json = read_run(run);
  EXPECT_EQ(json["problems"], Json::array());
  models = json["models"];
  ASSERT_EQ(models.size(), 2u) << models;
  EXPECT_EQ(models[0]["role"], "model");
  EXPECT_EQ(models[0]["score"], 3);
  EXPECT_EQ(models[0]["predicted_ms"], 2.0);
  EXPECT_EQ(models[0]["measured_ms"], 5.0);
  EXPECT_EQ(models[0]["low_ms"], 2.0);
  EXPECT_EQ(models[0]["high_ms"], 7.0);
  EXPECT_EQ(models[0]["measured_bytes"], 7000);
  EXPECT_EQ(models[0]["planned_bytes"], 4000);
  EXPECT_EQ(models[0]["blocks"].size(), 2u);
  EXPECT_EQ(models[0]["train"], "");
  EXPECT_EQ(models[1]["name"], "twelve layers");
  EXPECT_EQ(models[1]["role"], "baseline");
  // At the end the result counts.
  search::SearchResult result;
  result.models = {second};
  search::write_result(run, space, {}, result);
  models = read_run(run)["models"];
  ASSERT_EQ(models.size(), 1u) << models;
  EXPECT_EQ(models[0]["name"], "m02");
}

TEST_F(Documents, ARankingUnderWaySaysSo) {
  const fs::path run = folder_ / "ranked";
  const Json config = {{"ranking", {{"space", "letters"}}}};
  {
    const store::RunFolder open(run, store::RunKind::kRank, config, Json::object());
    training("ranked/m001", 40, 40);
    training("ranked/m002", 10, 40);
    const Json json = read_run(run);
    EXPECT_EQ(json["kind"], "ranking");
    EXPECT_EQ(json["state"], "running");
    EXPECT_EQ(json["begun"], 2);
    EXPECT_EQ(json["models"], Json::array());
    EXPECT_EQ(json["problems"], Json::array());
  }
  EXPECT_EQ(read_run(run)["state"], "stopped");
  std::ofstream(run / "ranking.json")
      << R"({"models": [{"id": "m001"}], "percents": [], "proxies": [{"name": "x", "scores": [1]}]})";
  EXPECT_EQ(read_run(run)["state"], "done");
  const store::RunFolder open(run, store::RunKind::kRank, config, Json::object());
  EXPECT_EQ(read_run(run)["state"], "running");
}

// A space whose blocks `heed worth` values, and a law that knows them.
Json valued_space() {
  return parse_toml(test::small_space({{"genes.layer", R"(["sf", "r"])"}, {"genes.projection", "[4, 8]"}}),
                    "t");
}
Json small_law() {
  search::Law law;
  law.floor = 1;
  law.blocks = {0.5, 0.5, 0.5};
  law.width = {0.5, 0.5, 0.5}, law.tokens = {0.5, 0.5};
  law.letters = {{'s', {0.1, 0.1, 1, 0}}, {'f', {0, 0.5, 1, 0}}, {'r', {0.7, 0, 1, 0}}};
  return to_json(law);
}

TEST_F(Documents, AWorthRunShowsItsModelsAndWhatOneMoreBlockGains) {
  const fs::path run = folder_ / "worth";
  const spec::Space space = spec::read_space(valued_space(), "t");
  const Json config = {{"space", "t"},
                       {"space_definition", valued_space()},
                       {"settings", {{"models", 3}, {"tokens", 640}, {"seed", 1}}},
                       {"budget", 60}};
  {
    const store::RunFolder open(run, store::RunKind::kWorth, config, Json::object());
    training("worth/m001", 40, 40);
    const Json json = read_run(run);
    EXPECT_EQ(json["kind"], "worth");
    EXPECT_EQ(json["state"], "running");
    EXPECT_EQ(json["begun"], 1);
    EXPECT_EQ(json["planned"], 3);
    EXPECT_EQ(json["text"], "book.txt");
    EXPECT_EQ(json["models"], Json::array());
    EXPECT_EQ(json["problems"], Json::array());
    // What is trained is shown before there is a law.
    const std::string spec = csv_cell(to_json(space.model_of(space.candidate_of("16/0/1/256 r/4"))).dump());
    std::ofstream(run / "models.csv") << "text,model,tokens,bits_per_byte,last,seconds,spec\n"
                                      << "t,m001,320,5,0,1," << spec << "\nt,m001,640,3,1,1," << spec << "\n";
    const Json trained = read_run(run)["models"];
    ASSERT_EQ(trained.size(), 1u);
    EXPECT_EQ(trained[0]["measured"], 3);
    EXPECT_EQ(trained[0]["predicted"], Json());
    EXPECT_EQ(trained[0]["moments"], Json({{"tokens", {320, 640}}, {"bits_per_byte", {5, 3}}}));
  }
  Json models = Json::array();
  for (const auto& [name, key, bits] : {std::tuple{"m001", "16/0/1/256 r/4", 3.0},
                                        {"m002", "16/0/1/256 sf2:16", 2.0},
                                        {"m003", "16/0/1/256 r/8", 4.0},
                                        {"m004", "32/0/1/256 r/8", 4.0}})
    models.push_back(
        {{"name", name},
         {"moments", {{{"tokens", 320}, {"bits_per_byte", 5}}, {{"tokens", 640}, {"bits_per_byte", bits}}}},
         {"predicted", bits + 0.25},
         {"spec", to_json(space.model_of(space.candidate_of(key)))}});
  const Json quality = {{"error", 0.25}, {"spearman", 1}};
  store::write_json_object(run / "law.json",
                           {{"law", small_law()}, {"quality", quality}, {"models", models}});
  std::ofstream(run / "ranking.json")
      << R"({"models": [{"id": "m001"}], "percents": [], "proxies": [{"name": "x", "scores": [1]}]})";
  const Json json = read_run(run);
  EXPECT_EQ(json["problems"], Json::array());
  EXPECT_EQ(json["state"], "done");
  EXPECT_EQ(json["quality"], quality);
  ASSERT_EQ(json["models"].size(), 4u);
  EXPECT_EQ(json["models"][1]["measured"], 2.0);
  EXPECT_EQ(json["models"][1]["predicted"], 2.25);
  EXPECT_EQ(json["models"][1]["moments"], Json({{"tokens", {320, 640}}, {"bits_per_byte", {5, 2.0}}}));
  EXPECT_EQ(json["ranking"]["proxies"][0]["name"], "x");
  // The median model of each width, with every block of the space.
  ASSERT_EQ(json["rates"].size(), 2u);
  EXPECT_EQ(json["rates"][0]["base"], "m001");
  EXPECT_EQ(json["rates"][0]["width"], 16);
  EXPECT_EQ(json["rates"][0]["tokens"], 640);
  EXPECT_EQ(json["rates"][1]["base"], "m004");
  EXPECT_EQ(json["rates"][0]["blocks"].size(), 5u);  // s, two f, two r
  for (const Json& block : json["rates"][0]["blocks"]) EXPECT_GT(block["bits"], 0) << block;

  // What is damaged is told, and the rest is shown.
  std::ofstream(run / "ranking.json") << "{";
  EXPECT_TRUE(tells(read_run(run), "ranking.json"));
  EXPECT_EQ(read_run(run)["models"], json["models"]);
  std::ofstream(run / "law.json") << R"({"law": {}, "quality": {}, "models": []})";
  EXPECT_TRUE(tells(read_run(run), "it is not a law of worth"));
}

TEST_F(Documents, ASearchByWorthShowsWhatItTrainedAndWhatOneMoreBlockGains) {
  const spec::Space space = spec::read_space(valued_space(), "t");
  const fs::path run = folder_ / "found";
  fs::create_directories(run);
  store::write_json_object(run / "config.json", {{"space", "t"},
                                                 {"space_definition", valued_space()},
                                                 {"strategy", "exact"},
                                                 {"proxy", "worth"},
                                                 {"train_tokens", 640}});
  const search::Records records(run);
  search::SearchResult result;
  const auto found = [&](const std::string& name, const std::string& key) {
    const search::Evaluated e{space.candidate_of(key), {0.002, 500, 1000, 2000, 3000}, -2.5};
    return search::FoundModel{name, e, space.model_of(e.candidate), 4000, {}, 0, {}};
  };
  result.models = {found("m01", "16/0/1/256 r/4"), found("m02", "32/0/1/256 r/8")};
  result.models[1].picks = {search::kRecommended};
  result.models[1].trained = {{320, 4}, {640, 3.5}};
  result.rivals = {found("interleaved", "16/0/1/256 sf2:16")};
  search::write_result(run, space, {}, result);
  EXPECT_EQ(read_run(run)["rates"], Json::array());  // it has left no law
  store::write_json_object(run / "law.json", {{"law", small_law()}, {"tokens", 640}});
  const spec::Block timed = space.blocks_of(space.options(32).back()).at(0);
  store::write_json_object(
      run / "blocks.json",
      {{"blocks", {search::block_json(32, timed, {.latency = 0.007}), search::block_json(16, timed, {})}},
       {"frames", Json::array()}});
  const Json json = read_run(run);
  EXPECT_EQ(json["problems"], Json::array());
  EXPECT_EQ(json["by_law"], true);
  EXPECT_EQ(json["train_tokens"], 640);
  ASSERT_EQ(json["models"].size(), 3u);
  EXPECT_EQ(json["models"][0]["moments"]["tokens"], Json::array());
  EXPECT_EQ(json["models"][1]["moments"], Json({{"tokens", {320, 640}}, {"bits_per_byte", {4.0, 3.5}}}));
  EXPECT_EQ(json["models"][2]["name"], "interleaved");
  EXPECT_EQ(json["models"][2]["role"], "rival");
  ASSERT_EQ(json["rates"].size(), 1u);
  EXPECT_EQ(json["rates"][0]["base"], "m02");
  EXPECT_EQ(json["rates"][0]["blocks"].size(), 5u);
  for (const Json& block : json["rates"][0]["blocks"]) {
    const bool is_timed =
        block["letter"] == std::string(1, timed.letter) && block["sizes"] == search::sizes_json(timed);
    EXPECT_EQ(block["ms"], is_timed ? Json(7.0) : Json()) << block;
  }
  std::ofstream(run / "law.json") << R"({"law": {}, "tokens": 640})";
  EXPECT_TRUE(tells(read_run(run), "it is not a law of worth"));
  EXPECT_EQ(read_run(run)["models"].size(), 3u);
}

TEST_F(Documents, ValuedBlocksMeetTheirTimes) {
  const spec::Space space = spec::read_space(valued_space(), "t");
  const spec::Block timed = space.blocks_of(space.options(16).back()).at(0);
  {
    const store::Database database(folder_ / "profile.db");
    measure::DeviceProfile profile(database, measure::Device());
    profile.add({{search::block_key(space, 16, timed, false), {0.003, 0.001, 0.005, 5}},
                 {search::block_key(space, 16, timed, true), {0.001, 0.001, 0.001, 5}},
                 {search::block_key(space, 32, timed, false), {0.009, 0.009, 0.009, 5}}});
  }
  const search::Law law = search::read_law(small_law(), "t");
  const Json worth = {
      {"kind", "worth"},
      {"name", "worth"},
      {"path", "worth"},
      {"rates", {rates_json("m1", space.model_of(space.candidate_of("16/0/1/256 r/8")), space, law, 640)}}};
  const Json all = document({worth, read_run(folder_ / "profile.db")}, "1");
  size_t known = 0;
  for (const Json& block : all["runs"][0]["rates"][0]["blocks"]) {
    if (block["ms"].is_null()) continue;
    ++known;
    EXPECT_EQ(block["ms"], 3.0);
    EXPECT_EQ(block["letter"], std::string(1, timed.letter));
    EXPECT_EQ(block["sizes"], search::sizes_json(timed));
  }
  EXPECT_EQ(known, 1u);
  EXPECT_TRUE(document({worth}, "1")["runs"][0]["rates"][0]["blocks"][0]["ms"].is_null());
}

TEST_F(Documents, EveryDeviceOfAProfileIsShown) {
  const fs::path file = folder_ / "profile.db";
  {
    const store::Database database(file);
    measure::Device device;
    for (const auto& [cpu, pieces] : {std::pair{"one", 1}, {"two", 3}, {"three", 0}}) {
      device.cpu = cpu;
      measure::DeviceProfile profile(database, device);
      profile.save_peak(1e9 * (1 + pieces));
      for (int i = 0; i < pieces; ++i) {
        spec::ModelSpec block = test::small_model("gpt2", "f");
        block.width = 16 + 8 * i, block.sizes["heads"] = {2};
        profile.add({{measure::piece_key(block, {16}), {0.001 * (1 + i), 0.001, 0.005, 5}}});
      }
    }
  }
  const Json run = read_run(file);
  EXPECT_EQ(run["kind"], "device");
  EXPECT_EQ(run["problems"], Json::array());
  ASSERT_EQ(run["devices"].size(), 3u);
  for (const auto& [place, cpu, pieces] : {std::tuple{0, "two", 3}, {1, "one", 1}, {2, "three", 0}}) {
    const Json& device = run["devices"][static_cast<size_t>(place)];
    EXPECT_EQ(device["device"]["cpu"], cpu);
    EXPECT_EQ(device["peak_gflops"], 1 + pieces);
    EXPECT_EQ(device["pieces"].size(), static_cast<size_t>(pieces));
  }
  EXPECT_EQ(run["devices"][0]["pieces"][0]["letter"], "f");
}

TEST_F(Documents, NamesAreUniqueAndModelsMeetTheirTraining) {
  fs::create_directories(folder_ / "a");
  fs::create_directories(folder_ / "b");
  Json search = {{"kind", "search"}, {"name", "found"}, {"path", "found"}};
  const Json spec = to_json(test::small_model("transformer-xl", "(sf)x2"));
  search["models"] = {{{"name", "m01"}, {"spec", spec}, {"trained", Json::array()}},
                      {{"name", "m02"}, {"spec", Json::object()}, {"trained", Json::array()}}};
  const Json all =
      document({search, read_run(training("a/run", 20, 40)), read_run(training("b/run", 9, 40))}, "1");
  EXPECT_EQ(all["runs"][1]["name"], "run");
  EXPECT_EQ(all["runs"][2]["name"], (folder_ / "b/run").string());
  // Also where a path is what another one is called.
  Json plain = {{"kind", "unreadable"}, {"name", "run"}, {"path", "run"}};
  const Json same = document({plain, plain, plain}, "1")["runs"];
  EXPECT_EQ(same[0]["name"], "run");
  EXPECT_EQ(same[1]["name"], "run (2)");
  EXPECT_EQ(same[2]["name"], "run (3)");
  const Json& trained = all["runs"][0]["models"][0]["trained"];
  ASSERT_EQ(trained.size(), 1u) << trained;  // the other was not evaluated yet
  EXPECT_EQ(trained[0]["run"], "run");
  EXPECT_EQ(trained[0]["loss"], 9.0 / 20);
  EXPECT_EQ(all["runs"][0]["models"][1]["trained"], Json::array());
}

TEST_F(Documents, NothingInThemEndsTheScriptTheyStandIn) {
  const std::string name = "<script>alert(1)<_script>";
  const fs::path run = training(name, 3, 40);
  std::ofstream(run / "samples.jsonl")
      << Json{{"step", 1}, {"text", "</script><script>alert(2)</script>\xff"}}.dump(
             -1, ' ', false, Json::error_handler_t::replace)
      << "\n";
  const Json given = document({read_run(run)}, "1");
  const std::string page = page_with(given);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  const std::string before = R"(<script id="document" type="application/json">)";
  const size_t begin = page.find(before) + before.size(), end = page.find("</script>", begin);
  EXPECT_EQ(Json::parse(page.substr(begin, end - begin)), given);
  EXPECT_EQ(given["runs"][0]["name"], name);
  EXPECT_EQ(given["runs"][0]["samples"][0]["text"], "</script><script>alert(2)</script>\xef\xbf\xbd");
}

}  // namespace
}  // namespace heed::report
