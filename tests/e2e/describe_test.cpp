#include "heed/base/clock.h"
#include "heed/base/units.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, DescribeCountsGpt2) {
  const Outcome outcome = heed("describe gpt2-124m --length 192 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["arch"], "(sf)x12");
  EXPECT_EQ(json["params"]["total"], 124439808);
  EXPECT_EQ(json["params"]["decoder"], 124439808 - (50257 + 1024) * 768);
  // 2 per multiply-add: weights of the blocks and the head once per token, attention over the whole square
  const double blocks = 2.0 * 192 * 12 * 12 * 768 * 768 + 4.0 * 192 * 192 * 768 * 12;
  EXPECT_EQ(json["flops"]["blocks"].get<double>(), blocks);
  EXPECT_EQ(json["flops"]["blocks_and_head"].get<double>(), blocks + 2.0 * 192 * 50257 * 768);
  EXPECT_GE(json["memory"]["weights"].get<int64_t>(), 4 * 124439808ll);
  EXPECT_GT(json["memory"]["peak"].get<int64_t>(), json["memory"]["weights"].get<int64_t>());
  EXPECT_TRUE(contains(heed("describe gpt2-124m"), "124439808"));
}

// The papers give GFLOPs of a segment of 64 tokens with a memory of 640.
TEST_F(Verbs, DescribeCountsAsThePapersDo) {
  struct Published {
    const char* recipe;
    double blocks, blocks_and_head, executed;
  };
  for (const Published& p :
       {Published{"txl-base-wt103", 25.30, 26.61, 30.67}, Published{"par-base-wt103", 14.86, 16.17, 16.87}}) {
    const Outcome outcome = heed(std::string("describe ") + p.recipe + " --json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    const Json flops = Json::parse(outcome.out)["flops"];
    EXPECT_NEAR(flops["blocks"].get<double>(), 1e9 * p.blocks, 0.005e9) << p.recipe;
    EXPECT_NEAR(flops["blocks_and_head"].get<double>(), 1e9 * p.blocks_and_head, 0.005e9) << p.recipe;
    EXPECT_NEAR(flops["blocks_as_executed"].get<double>(), 1e9 * p.executed, 0.005e9) << p.recipe;
    EXPECT_LT(flops["blocks_cached"].get<double>(), flops["blocks"].get<double>()) << p.recipe;
  }
}

// At 384 tokens, as in the table of latencies of the PAR paper. heed has no task that trains these heads, so
// no update is planned.
TEST_F(Verbs, DescribeCountsEncodersAsThePaperDoes) {
  for (const auto& [recipe, blocks] : {std::pair("bert-base", 70.7), std::pair("par-bert-base", 80.2)}) {
    const Outcome outcome = heed(std::string("describe ") + recipe + " --json");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    const Json json = Json::parse(outcome.out);
    EXPECT_NEAR(json["flops"]["blocks"].get<double>(), 1e9 * blocks, 0.05e9) << recipe;
    EXPECT_FALSE(json["flops"].contains("training_step"));
    EXPECT_FALSE(json["memory"].contains("training"));
  }
  const Outcome drawn = heed("describe distilbert-base");
  for (const char* part : {"66.4 M (66362880), 42.5 M in the encoder", "a vector for each token"})
    EXPECT_TRUE(contains(drawn, part)) << part << drawn.output;
  EXPECT_FALSE(contains(drawn, "an update of")) << drawn.output;
}

TEST_F(Verbs, DescribeTakesARecipeAFileAndAModel) {
  const Outcome drawn = heed("describe par-base-wt103");
  ASSERT_EQ(drawn.code, 0) << drawn.output;
  for (const char* part : {"[s]  self-attention, heads 8", "x 6", "published: test perplexity 22.7",
                           "an update of 256 x 192 tokens"}) {
    EXPECT_TRUE(contains(drawn, part)) << part << " in:\n" << drawn.output;
  }
  const Json of_file = Json::parse(heed("describe " + tiny() + " --json").out);
  const Json of_model = Json::parse(heed("describe " + trained() + " --json").out);
  EXPECT_EQ(of_file["params"], of_model["params"]);
  EXPECT_EQ(of_file["memory"], of_model["memory"]);
}

// What the recipe says of its size and results holds for the recipe as it is.
TEST_F(Verbs, DescribeSaysTheSizeOfAChangedRecipe) {
  const Outcome changed = heed("describe par-base-wt103 --set model.width=256");
  ASSERT_EQ(changed.code, 0) << changed.output;
  const Json json = Json::parse(heed("describe par-base-wt103 --set model.width=256 --json").out);
  const std::string size = format_count(json["params"]["total"].get<double>());
  EXPECT_TRUE(changed.out.starts_with("par-base-wt103: " + size + " parameters: PAR Base")) << changed.out;
  EXPECT_TRUE(json["about"].get<std::string>().starts_with(size + " parameters: ")) << json["about"];
  EXPECT_FALSE(contains(changed, "published")) << changed.output;
  const Outcome words = heed("describe " + tiny() + " --tokenizer words");
  EXPECT_EQ(words.code, 2);
  EXPECT_TRUE(contains(words, "a vocabulary of words depends on the text; give --vocabulary"))
      << words.output;
  EXPECT_FALSE(contains(words, "--data")) << "it has no such flag: " << words.output;
}

TEST_F(Verbs, DescribeDrawsBlocksOfDifferentSizesApart) {
  const Outcome drawn =
      heed("describe " + file("sru.json", R"({"model": {"backbone": "sru++", "arch": "rrrrr",
    "width": 16, "projection": [8, 4, 8, 4, 8], "vocabulary": 256}})"));
  ASSERT_EQ(drawn.code, 0) << drawn.output;
  EXPECT_TRUE(contains(drawn,
                       " ┌ [r]  SRU, projection 8\n"
                       " └ [r]  SRU, projection 4  x 2\n"
                       " ─ [r]  SRU, projection 8\n"))
      << drawn.output;
}

TEST_F(Verbs, DescribeShowsAStringAsItWasWritten) {
  const std::string recipe = file("written.json", R"({"model": {"backbone": "sru++", "arch": "rf sf sf",
    "width": 16, "heads": [2], "inner": [32], "projection": [8], "vocabulary": 256}})");
  EXPECT_EQ(Json::parse(heed("describe " + recipe + " --json").out)["arch"], "rf sf sf");
  const Outcome drawn = heed("describe " + recipe);
  EXPECT_TRUE(contains(drawn,
                       " ┌ [r]  SRU, projection 8\n"
                       " └ [f]  feed-forward, inner width 32\n"
                       " ┌ [s]  self-attention, heads 2\n"
                       " └ [f]  feed-forward, inner width 32  x 2\n"))
      << drawn.output;
}

// What is quadratic in the number of blocks would take a minute here.
TEST_F(Verbs, DescribeOfFourThousandBlocksTakesSeconds) {
  const std::string deep = file("deep.json", R"({"model": {"arch": "(sf)x2000", "width": 64, "heads": [4],
    "inner": [128], "vocabulary": 256}})");
  [[maybe_unused]] const double begin = now_seconds();
  const Outcome outcome = heed("describe " + deep);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome, "x 2000")) << outcome.output;
#ifndef HEED_SANITIZED
  EXPECT_LT(now_seconds() - begin, 15);  // on a machine that does other things too
#endif
}

TEST_F(Verbs, DescribeListsTheGraph) {
  const std::string command = "describe " + tiny() + " --graph --length 4 --memory 2";
  const Outcome listed = heed(command);
  ASSERT_EQ(listed.code, 0) << listed.output;
  for (const char* line :
       {"inputs:\n  tokens: i32[1, 4]\n", "  blocks.0.attention.kv.weight: f32[16, 32]\n",
        "states:\n  blocks.0.memory: f32[1, 1, 2, 16]\n",
        "  %1 = sinusoid() {\"clamp\":-1,\"length\":6,\"width\":16} : f32[6, 16]  # frame\n",
        "blocks.1.feed_forward.in.weight, blocks.1.feed_forward.in.bias, -) {\"activation\":\"relu\",",
        ": f32[1, 4, 32]  # block 1 (f)\n", ": f32[1, 4, 256]  # frame\noutputs: %"}) {
    EXPECT_TRUE(contains(listed, line)) << line << " in:\n" << listed.output;
  }
  EXPECT_EQ(heed(command).out, listed.out);
  const Json json = Json::parse(heed(command + " --json").out);
  EXPECT_EQ(json["parameters"][0], Json({{"name", "attention.u"}, {"dtype", "f32"}, {"shape", {16}}}));
  EXPECT_EQ(json["nodes"].back()["section"], "frame");
  EXPECT_EQ(json["nodes"].back()["kind"], "linear");
  refuses("describe gpt2-124m --graph --length 2000", 2, "1 to 1024 positions");
}

TEST_F(Verbs, DescribeRefuses) {
  refuses("describe", 2, "recipe is required");
  refuses("describe gpt2-124n", 2, "did you mean 'gpt2-124m'?");
  refuses("describe zzz", 2, "`heed recipes` lists them");
  refuses("describe " + file("key.json", R"({"model": {"widht": 3}})"), 2, "did you mean 'width'?");
  refuses("describe " + file("part.json", R"({"modle": {}})"), 2, "at least \"model\"");
  refuses("describe " + file("heads.json", R"({"model": {"width": 500, "heads": [8]}})"), 2,
          "width 500 is not a multiple of heads 8; try 496 or 504");
  refuses("describe " + file("kind.json", R"({"model": {"width": "wide"}})"), 2, "cannot be \"wide\"");
  refuses("describe " + file("half.json", "{\"model\":\n  {\"width\": "), 2,
          "not JSON: syntax error at line 2, column 13");
  refuses("describe " + file("none.json", ""), 2, "not JSON");
  refuses("describe " + file("bytes.json", std::string("\0\xff", 2)), 2, "not JSON");
  std::filesystem::create_directories(path("empty"));
  refuses("describe " + path("empty"), 2, "is a folder without a model");
  refuses("describe gpt2-124m --length 2000", 2, "1 to 1024 positions");
  refuses("describe gpt2-124m --memory 10", 2, "use memory 0");
  refuses("describe " + tiny() + " --length 0", 2, "must be at least 1");
  refuses("describe " + tiny() + " --length x", 2, "--length: 'x' was given; write a whole number");
  refuses("describe " + tiny() + " --lenght 3", 2, "unknown flag '--lenght'; did you mean '--length'?");
  refuses("describe " + tiny() + " more", 2, "did not expect 'more'");
  refuses("describe " + tiny() + " --length 9000000000000000000", 2, "more elements than any machine holds");
}

}  // namespace
}  // namespace heed::test
