#include "heed/data/utf8.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, GenerateGoesOnFromAPrompt) {
  const std::string run = trained("run", "--steps 300");
  const Outcome outcome = heed("generate " + run + " -p 'the cat' -n 30 --temperature 0");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(outcome.out.starts_with("the cat")) << outcome.out;
  EXPECT_EQ(outcome.out.size(), 7 + 30 + 1u) << outcome.out;  // bytes, and a line end
  EXPECT_TRUE(contains(outcome, "prompt: 7 tokens in ")) << outcome.output;
  EXPECT_EQ(heed("generate " + run + " -p 'the cat' -n 30 --temperature 0 --no-prompt").out,
            outcome.out.substr(7));
  // The seed decides.
  const auto drawn = [&](int seed) {
    return heed("generate " + run + " -n 40 --seed " + std::to_string(seed)).out;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  // Nothing to go on from, and bytes that are no text.
  EXPECT_EQ(heed("generate " + run + " -p '' -n 5").code, 0);
  const Outcome odd = heed("generate " + run + " -n 5 --no-prompt -p \"$(printf '\\377\\376')\"");
  EXPECT_EQ(odd.code, 0) << odd.output;
  EXPECT_TRUE(data::is_utf8(odd.out)) << odd.out;
}

TEST_F(Verbs, GeneratePutsBlanksBetweenWords) {
  const std::string run = trained("run", "--tokenizer words --steps 300");
  const Outcome outcome = heed("generate " + run + " -p 'the cat' -n 4 --temperature 0");
  EXPECT_EQ(outcome.out, "the cat sat on the mat.\n") << outcome.output;
  refuses("generate " + run + " -p 'the zebra'", 2, "this model cannot read the prompt: words: 'zebra'");
  const std::string letters = trained("letters", "--tokenizer characters");
  refuses("generate " + letters + " -p 'the Zebra'", 2, "characters: 'Z' at byte 4");
  EXPECT_EQ(heed("generate " + letters + " -n 5").code, 0);
}

TEST_F(Verbs, GenerateReadsThePromptFromAFileOrStandardInput) {
  const std::string run = trained("run", "--steps 300");
  const std::string rest = " -n 12 --temperature 0", generate = "generate " + run + rest;
  const std::string expected = heed(generate + " -p 'the cat'").out;
  const std::string prompt = file("prompt.txt", "the cat\n");
  EXPECT_EQ(heed(generate + " -f " + prompt).out, expected);
  EXPECT_EQ(heed(generate + " --file " + prompt).out, expected);
  EXPECT_EQ(heed(generate + " -p - < " + prompt).out, expected);
  EXPECT_EQ(shell("printf 'the cat' | " HEED_PROGRAM " " + generate + " -f -").out, expected);
  EXPECT_EQ(shell("printf 'the cat\\r\\n' | " HEED_PROGRAM " " + generate + " -p -").out, expected);
  refuses(generate + " -f " + path("none.txt"), 2, "none.txt");
  refuses(generate + " -f " + prompt + " -p the", 2, "-p and -f both give a prompt");
}

TEST_F(Verbs, GenerateEndsBeforeAStopString) {
  const std::string run = trained("run", "--steps 300"),
                    generate = "generate " + run + " -p 'the cat' --temperature 0";
  const std::string all = heed(generate + " -n 40").out;
  const size_t stop = all.find("mat");
  ASSERT_NE(stop, std::string::npos) << all;
  EXPECT_EQ(heed(generate + " -n 40 --stop mat --stop zebra").out, all.substr(0, stop) + "\n");
  const Json json = Json::parse(heed(generate + " -n 40 --stop zebra --stop mat --json").out);
  EXPECT_EQ(json["text"], all.substr(0, stop));
  EXPECT_EQ(json["finish_reason"], "stop");
  refuses(generate + " --stop ''", 2, "a stop string is empty");
}

TEST_F(Verbs, GenerateGivesTokensAndLogProbabilities) {
  const std::string run = trained("run", "--steps 300"),
                    generate = "generate " + run + " -p 'the cat' -n 9 --json";
  const Json json = Json::parse(heed(generate + " --temperature 0").out);
  ASSERT_EQ(json["tokens"].size(), 9u) << json;
  EXPECT_EQ(json["finish_reason"], "length");
  std::string text = "the cat";
  for (const Json& token : json["tokens"]) {
    text += token["text"].get<std::string>();
    EXPECT_EQ(token["id"], static_cast<unsigned char>(token["text"].get<std::string>()[0]));  // a byte
    EXPECT_LE(token["logprob"], 0);
  }
  EXPECT_EQ(json["text"], text);
  // They are the model's: the temperature does not change them.
  const Json hot = Json::parse(heed(generate + " --temperature 3 --top-k 1").out);
  for (size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(hot["tokens"][i]["logprob"].get<double>(), json["tokens"][i]["logprob"].get<double>(), 1e-9);
}

TEST_F(Verbs, GenerateAnswersLines) {
  const std::string run = trained("run", "--steps 300");
  const auto answers = [&](const std::string& lines, const std::string& flags = "") {
    return shell("printf '" + lines + "' | " HEED_PROGRAM " generate " + run +
                 " --interactive -n 20 --temperature 0 " + flags)
        .out;
  };
  const std::string alone = heed("generate " + run + " -p 'the cat' -n 20 --temperature 0 --no-prompt").out;
  EXPECT_EQ(answers("the cat\\n"), alone);
  EXPECT_EQ(answers("the cat"), alone);
  // The second line continues the text.
  const std::string both = answers("the cat\\na dog\\n");
  ASSERT_TRUE(both.starts_with(alone)) << both;
  EXPECT_EQ(
      both.substr(alone.size()),
      heed("generate " + run + " -n 20 --temperature 0 --no-prompt -p 'the cat" + alone + "a dog'").out);
  EXPECT_EQ(answers("", "-p 'the cat'"), "the cat" + alone);
  EXPECT_EQ(answers(""), "");
  refuses("generate " + run + " -i -p -", 2,
          "--interactive reads standard input, so the prompt cannot come from there");
  refuses("generate " + run + " -i --json", 2, "--json and --interactive cannot be combined");
}

// A model with learned positions has as many as it has.
TEST_F(Verbs, GenerateSaysThatAPromptWasCut) {
  const std::string recipe = file("gpt2.json", R"({"model": {"backbone": "gpt2", "arch": "sf", "width": 16,
    "heads": [2], "inner": [32], "vocabulary": 256, "context": 32},
    "training": {"batch": 4, "length": 16, "steps": 5}, "evaluation": {"length": 16}})");
  ASSERT_EQ(heed("train " + recipe + " --data " + text() + " -o " + path("run") + " -t 1").code, 0);
  const std::string generate = "generate " + path("run") + " -n 3 --temperature 0 --no-prompt -p ";
  const std::string end = "0123456789abcdef";  // 16 bytes, half of the context
  const Outcome cut = heed(generate + "'" + std::string(40, 'x') + end + "'");
  EXPECT_EQ(cut.code, 0) << cut.output;
  EXPECT_TRUE(contains(
      cut,
      "the prompt is cut: it has 56 tokens and the model 32 positions; only the last 16 tokens are used"))
      << cut.output;
  EXPECT_EQ(cut.out, heed(generate + end).out);
  EXPECT_EQ(Json::parse(heed(generate + std::string(40, 'x') + " --json").out)["prompt_tokens_cut"], 24);
  const Outcome whole = heed(generate + std::string(32, 'x'));
  EXPECT_FALSE(contains(whole, "cut")) << whole.output;
}

TEST_F(Verbs, GenerateRefuses) {
  const std::string run = trained(), generate = "generate " + run + " -n 3";
  refuses("generate", 2, "model is required");
  refuses("generate " + path("nothing"), 2, "does not exist");
  refuses("generate " + tiny(), 2, "is a recipe without weights");
  refuses("generate " + run + " -n 0", 2, "-n is 0; it must be at least 1");
  refuses("generate " + run + " -n -1", 2, "--tokens: '-1' was given; write a whole number from 0 on");
  refuses(generate + " --temperature -1", 2, "temperature is -1; it must be from 0 to 100");
  refuses(generate + " --temperature hot", 2, "--temperature cannot be 'hot'; a number is expected");
  refuses(generate + " --top-p 2", 2, "top_p is 2; it must be above 0 and at most 1");
  refuses(generate + " --top-k -1", 2, "top_k is -1");
  refuses(generate + " --memory -5", 2, "--memory: '-5' was given; write a whole number from 0 on");
  refuses(generate + " --memory 100000000000", 2, "from 1 to 16777216");
  refuses(generate + " --tempreature 1", 2, "did you mean '--temperature'?");
  const std::string weights = run + "/model/model.safetensors";
  refuses("generate " + weights, 2, "holds weights only; give the folder of the model, '" + run + "/model'");
  std::filesystem::resize_file(weights, 2000);
  refuses(generate, 1, "cut off?");
  std::filesystem::remove(weights);
  std::filesystem::remove_all(run + "/checkpoints");
  refuses(generate, 2, "is a folder without a model");
}

}  // namespace
}  // namespace heed::test
