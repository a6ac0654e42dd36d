#include <chrono>
#include <thread>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

constexpr const char* kTable =
    "id,n_layer,d_model,n_head,d_inner,n_token,total_params,nonembedding_params,valid_ppl\n"
    "one,2,64,4,128,1000,,67070,50\n"
    "two,2,64,4,256,1000,,100096,40\n"
    "three,2,64,4,512,1000,,166144,30\n"
    "four,2,64,4,512,1000,,,\n";

TEST_F(Verbs, RankSaysHowScoresOrderModels) {
  const std::string table = file("t.csv", kTable);
  const Outcome outcome = heed("rank --table " + table + " --backbone gpt2 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["rows"], 4);
  EXPECT_EQ(json["without_perplexity"], 1);
  EXPECT_EQ(json["count_mismatches"], 1) << json["mismatches"];
  EXPECT_EQ(json["mismatches"][0]["id"], "one");
  EXPECT_EQ(json["mismatches"][0]["counted"], 67072);
  for (const char* proxy : {"decoder_params", "total_params", "flops", "effective_params"}) {
    const Json& found = json["proxies"][proxy];
    EXPECT_EQ(found["spearman"], 1) << proxy;
    EXPECT_TRUE(found["spearman_top"]["20"].is_null()) << proxy;  // none of three models
    EXPECT_EQ(found["spearman_top"]["100"], 1) << proxy;
    EXPECT_EQ(found["common_ratio"]["40"], 1) << proxy;
    // Samples of three models: they agree, or are all the same one.
    EXPECT_EQ(found["spearman_intervals"]["100"], Json({1, 1})) << proxy;
    EXPECT_EQ(found["spearman_intervals"]["20"], Json({nullptr, nullptr})) << proxy;
    EXPECT_EQ(found["common_ratio_intervals"]["40"].size(), 2u) << proxy;
  }
  EXPECT_EQ(json["models"]["100"], 3);
  EXPECT_EQ(json["models"]["20"], 0);
  EXPECT_EQ(json["few_models"], 30);
  EXPECT_TRUE(
      contains(outcome, "warning: coefficients up to the best 100% (3 models) are computed from fewer"))
      << outcome.output;
  EXPECT_FALSE(json["proxies"]["decoder_params"].contains("difference"));
  const Json& difference = json["proxies"]["flops"]["difference"];
  EXPECT_EQ(difference["from"], "decoder_params");
  EXPECT_EQ(difference["spearman_top"]["100"], 0);
  EXPECT_EQ(difference["spearman_intervals"]["100"], Json({0, 0}));
}

// Nor is the folder bound to a table that cannot be ranked by.
TEST_F(Verbs, RankLeavesTheFolderFreeForAnotherTable) {
  const std::string bad = file("bad.csv", "n_layer,d_model,n_head,d_inner,n_token\n2,64,4,128,1000\n"),
                    out = " --backbone gpt2 --proxy decoder_params -o " + path("ranked");
  refuses("rank --table " + bad + out, 2, "has no perplexity");
  const Outcome outcome = heed("rank --table " + file("t.csv", kTable) + out);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
}

// Where the scores are as good as random, the interval says so; a second score that is right differs by more
// than chance.
TEST_F(Verbs, RankGivesIntervals) {
  std::string table = "id,n_layer,d_model,n_head,d_inner,n_token,d_embed,valid_ppl\n";
  for (int i = 0; i < 60; ++i) {  // the embedding decides; the decoder does not
    const int embedding = 4 + i % 40;
    table += heed::text("m", i, ",2,64,4,", 64 + 8 * (i * 7 % 60), ",20000,", embedding, ",", 100 - embedding,
                        "\n");
  }
  const std::string command =
      "rank --table " + file("t.csv", table) + " --backbone gpt2 --proxy decoder_params,total_params";
  const Outcome outcome = heed(command + " --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["models"]["50"], 30);
  EXPECT_TRUE(contains(outcome, "up to the best 40% (24 models) are computed from fewer than 30"))
      << outcome.output;
  const Json decoder = json["proxies"]["decoder_params"], total = json["proxies"]["total_params"];
  const auto low = [](const Json& intervals) { return intervals["100"][0].get<double>(); };
  const auto high = [](const Json& intervals) { return intervals["100"][1].get<double>(); };
  EXPECT_LT(low(decoder["spearman_intervals"]), 0);
  EXPECT_GT(high(decoder["spearman_intervals"]), 0);
  EXPECT_GT(low(total["spearman_intervals"]), low(decoder["spearman_intervals"]));
  EXPECT_LE(low(total["spearman_intervals"]), total["spearman"]);
  EXPECT_GE(high(total["spearman_intervals"]), total["spearman"]);
  EXPECT_GT(low(total["difference"]["spearman_intervals"]), 0);
  const Outcome printed = heed(command);
  for (const std::string& part :
       {"models" + std::string(19, ' ') + "6" + std::string(6, ' ') + "12", std::string("  95% from"),
        std::string("       to"), std::string("Spearman's coefficient, minus that of decoder_params"),
        std::string("the best model by perplexity is m39, 57.00"),
        std::string("total_params       chooses m")})
    EXPECT_TRUE(contains(printed, part)) << part << " in:\n" << printed.output;
}

TEST_F(Verbs, RankKeepsScoresAndResumes) {
  std::string table = "id,n_layer,d_model,n_head,d_inner,n_token,valid_ppl\n";
  for (int i = 1; i <= 3; ++i) table += heed::text("m", i, ",2,64,4,", 64 * i, ",256,", 50 - i, "\n");
  const std::string log = path("log"), scores = path("ranked/scores.jsonl"),
                    command =
                        "rank --table " + file("t.csv", table) +
                        " --backbone gpt2 --proxy partial_training,grad_norm --batch 2 --threads 1 --data " +
                        text() + " -o " + path("ranked") + " --score-steps ";
  const auto lines = [&] {
    const std::string all = content(scores);
    return std::count(all.begin(), all.end(), '\n');
  };
  {
    const Child child(command + "60", log);
    for (int wait = 0; wait < 60000 && lines() < 1; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    child.send(SIGINT);
    const int status = child.status();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << content(log);
  }
  EXPECT_NE(content(log).find("scoring by partial_training: 0 of 3 models"), std::string::npos)
      << content(log);
  EXPECT_NE(content(log).find("rerun the same command to resume"), std::string::npos) << content(log);
  const std::string before = content(scores);
  EXPECT_GE(lines(), 1);
  EXPECT_LT(lines(), 3);
  const Outcome outcome = heed(command + "60 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(content(scores).starts_with(before)) << content(scores);
  EXPECT_EQ(lines(), 6);
  const Json first = Json::parse(before.substr(0, before.find('\n')));
  EXPECT_EQ(first["proxy"], "partial_training");
  EXPECT_EQ(first["model"], "m1");
  // Everything is scored.
  EXPECT_EQ(heed(command + "60 --json").out, outcome.out);
  EXPECT_EQ(lines(), 6);
  // Other settings, and another text in the same file, are other scores.
  ASSERT_EQ(heed(command + "5").code, 0);
  EXPECT_EQ(lines(), 12);
  file("text.txt", content(text()) + "the end\n");
  ASSERT_EQ(heed(command + "5").code, 0);
  EXPECT_EQ(lines(), 18);
}

TEST_F(Verbs, RankRunsModelsForSomeScores) {
  const Outcome outcome = heed("rank --table " + file("t.csv", kTable) +
                               " --backbone gpt2 --proxy grad_norm,snip,synflow --batch 2 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["proxies"].size(), 3u);
  for (const auto& proxy : json["proxies"]) EXPECT_TRUE(proxy["spearman"].is_number()) << proxy;
}

TEST_F(Verbs, RankPrintsTables) {
  const Outcome outcome =
      heed("rank --table " + file("t.csv", kTable) + " --backbone gpt2 --proxy decoder_params,flops");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "4 models, 1 of them without a perplexity and left out")) << outcome.out;
  EXPECT_TRUE(contains(outcome, "parameter counts: differences from the table: 1\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome, "decoder_params")) << outcome.out;
  EXPECT_FALSE(contains(outcome, "total_params ")) << outcome.out;
}

TEST_F(Verbs, RankTrainsModelsOfASpace) {
  const std::string space = Verbs::space({{"genes.width", "[8, 16]"}, {"genes.inner", "[8, 16, 32]"}});
  const std::string command = "rank --space " + space + " --models 4 --max-steps 20 --data " + text() +
                              " -o " + path("ranked") + " --json";
  const Outcome first = heed(command);
  ASSERT_EQ(first.code, 0) << first.output;
  Json json = Json::parse(first.out);
  EXPECT_EQ(json["rows"], 4);
  EXPECT_EQ(json["without_perplexity"], 0);
  EXPECT_TRUE(json["proxies"]["decoder_params"]["spearman"].is_number());
  EXPECT_EQ(content(path("ranked/models.csv")).substr(0, 8), "id,arch,");
  // Scores that run a model read the same text.
  const Json on_text =
      Json::parse(heed(command + " --proxy partial_training,grad_norm --score-steps 5 --batch 2").out);
  for (const char* proxy : {"partial_training", "grad_norm"})
    EXPECT_TRUE(on_text["proxies"][proxy]["spearman"].is_number()) << on_text;
  // Everything is trained: the same again, at once.
  Json again = Json::parse(heed(command).out);
  for (Json* each : {&json, &again}) {
    for (auto& proxy : (*each)["proxies"]) proxy.erase("seconds");
  }
  EXPECT_EQ(again, json);
  // And so from the table it wrote.
  Json from_table = Json::parse(heed("rank --table " + path("ranked/models.csv") + " --json").out);
  for (auto& proxy : from_table["proxies"]) proxy.erase("seconds");
  EXPECT_EQ(from_table, json);
  // A folder belongs to one ranking, and to one kind of run.
  refuses("rank --space " + space + " --models 4 --max-steps 10 --data " + text() + " -o " + path("ranked"),
          2, "was started with other settings: 'ranking.steps' was 20 and is 10 now");
  refuses("rank --table " + path("ranked/models.csv") + " -o " + path("ranked"), 2,
          "was started with other settings");
  refuses("rank --table " + path("ranked/models.csv") + " -o " + path("ranked/m001"), 2,
          "was made by `heed train`");
  refuses("train " + path("ranked/m001/config.json") + " --data " + text() + " -o " + path("ranked"), 2,
          "was made by `heed rank`; give another folder");
  refuses("rank --table " + file("bad.csv", "id,spec,valid_ppl\na,{,3\n"), 2,
          "bad.csv: line 2: spec is not JSON");
  refuses("rank --table " + file("bad.csv", "id,spec,valid_ppl\na,[],3\n"), 2, "bad.csv: line 2: spec");
}

// With one vocabulary models are ranked by perplexity, whatever the words; with two by their losses per byte.
TEST_F(Verbs, RankComparesVocabulariesWhereWordsAreKnown) {
  const auto command = [&](const std::string& vocabularies, const std::string& name) {
    return "rank --space " +
           space({{"genes.width", "[8, 16]"},
                  {"genes.vocabulary", vocabularies},
                  {"data.tokenizer", "\"words\""}},
                 name + ".toml") +
           " --models 4 --max-steps 5 --data " + text() + " -o " + path(name);
  };
  EXPECT_EQ(heed(command("[6]", "one")).code, 0);
  refuses(command("[6, 8]", "two"), 2, "of the tokens are unknown words");
  EXPECT_EQ(heed(command("[20, 30]", "known")).code, 0);
}

TEST_F(Verbs, RankRefuses) {
  refuses("rank", 2, "give a table of trained models with --table FILE.csv");
  refuses("rank --table " + file("t.csv", kTable) + " --batch 0", 2, "--batch is 0; it must be positive");
  refuses("rank --table " + file("t.csv", kTable) + " --models 3", 2,
          "--models and --max-steps need --space");
  refuses("rank --table " + file("low.csv",
                                 "n_layer,d_model,n_head,d_inner,n_token,backbone,valid_ppl\n"
                                 "2,64,4,128,1000,gpt2,-3\n"),
          2, "low.csv: line 2: valid_ppl is -3; it must be positive");
  refuses("rank --space letters", 2, "give a text to train on with --data PATH");
  refuses("rank --space letters --data " + text(), 2, "give a folder for the models with -o FOLDER");
  refuses("rank --space letters --models 1 --data " + text() + " -o " + path("x"), 2,
          "a ranking needs 2 or more");
  refuses("rank --space letters --models 1 --seed 2 --data " + text() + " -o " + path("x"), 2,
          "a ranking needs 2 or more");
  file("letter.txt", "dear reader");
  refuses("rank --table " + file("t.csv", kTable) + " --backbone gpt2 -o " + path(""), 2,
          "holds files but no config.json; use a new or an empty folder");
  refuses("rank --table " + path("none.csv"), 2, "none.csv");
  refuses("rank --table " + file("t.csv", kTable) + " --proxy decoder_parms", 2,
          "did you mean 'decoder_params'?");
  refuses("rank --table " + file("t.csv", kTable) + " --backbone gpt3", 2, "did you mean 'gpt2'?");
  refuses("rank --table " + file("t.csv", kTable), 2, "attn_params is missing");
  refuses("rank --table " + file("empty.csv", ""), 2, "is empty; its first line must name the columns");
}

}  // namespace
}  // namespace heed::test
