#include <sstream>

#include "tests/e2e/support.h"

namespace heed::test {
namespace {

std::vector<Json> lines_of(const std::string& out) {
  std::vector<Json> lines;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST_F(Verbs, PredictShowsTheMostLikelyTokens) {
  const std::string run = trained("run", "--steps 300"), predict = "predict " + run + " -p 'the ca'";
  const Outcome outcome = heed(predict + " -k 3 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["prompt_tokens"], 6);
  const Json& likely = answer["predictions"];
  ASSERT_EQ(likely.size(), 3u);
  EXPECT_EQ(likely[0]["text"], "t");
  EXPECT_EQ(likely[0]["id"], 't');
  EXPECT_GT(likely[0]["probability"], 0.5);
  EXPECT_GE(likely[0]["probability"], likely[1]["probability"]);
  for (const Json& token : likely)
    EXPECT_NEAR(std::exp(token["logprob"].get<double>()), token["probability"].get<double>(), 1e-12);
  const Outcome shown = heed(predict + " -k 3");
  EXPECT_TRUE(shown.out.starts_with("0.")) << shown.out;
  EXPECT_NE(shown.out.find(" \"t\"\n"), std::string::npos) << shown.out;
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 3);
  // All of them are the whole distribution.
  double sum = 0;
  const Json all = Json::parse(heed(predict + " -k 1000 --json").out)["predictions"];
  EXPECT_EQ(all.size(), 256u);
  for (const Json& token : all) sum += token["probability"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  // An empty prompt is one: what a text may begin with.
  EXPECT_EQ(Json::parse(heed("predict " + run + " -p '' --json").out)["predictions"].size(), 5u);
  // What generate draws without chance is the first of them, with the same log-probability.
  const Json generated =
      Json::parse(heed("generate " + run + " -p 'the ca' -n 1 --temperature 0 --json").out)["tokens"][0];
  EXPECT_EQ(generated["id"], likely[0]["id"]);
  EXPECT_EQ(generated["logprob"], likely[0]["logprob"]);
}

TEST_F(Verbs, PredictAnswersEachLineForItself) {
  const std::string run = trained("run", "--steps 300"), program = " | " HEED_PROGRAM " predict " + run;
  const Outcome outcome = shell("printf 'the ca\\na do\\r\\n\\nthe ca'" + program + " --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const std::vector<Json> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 4u) << outcome.out;
  EXPECT_EQ(answers[0]["predictions"][0]["text"], "t");
  EXPECT_EQ(answers[1]["predictions"][0]["text"], "g");
  EXPECT_EQ(answers[1]["prompt_tokens"], 4);
  EXPECT_EQ(answers[3], answers[0]);
  EXPECT_EQ(answers[0], Json::parse(heed("predict " + run + " -p 'the ca' --json").out));
  const Outcome shown = shell("printf 'the ca\\na do\\n'" + program + " -k 2");
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 2) << shown.out;
  EXPECT_EQ(shell("printf ''" + program).out, "");
}

// An answer can be read before the next line is written.
TEST_F(Verbs, PredictFlushesEachAnswer) {
  const std::string run = trained("run", "--steps 20"), pipe = path("pipe");
  const Outcome outcome =
      shell("mkfifo " + pipe + "; { exec 3< " + pipe + "; echo the; timeout 60 head -n 1 <&3 > " +
            path("first") + "; echo a; exec 1>&-; cat <&3 > " + path("rest") +
            "; } | { " HEED_PROGRAM " predict " + run + " --json > " + pipe + "; }");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(lines_of(content(path("first"))).size(), 1u);
  EXPECT_EQ(lines_of(content(path("rest"))).size(), 1u);
}

// Answers stay beside their lines, and the exit code tells.
TEST_F(Verbs, PredictSaysWhichLinesItCannotRead) {
  const std::string run = trained("run", "--tokenizer words --steps 100"),
                    program = " | " HEED_PROGRAM " predict " + run;
  const Outcome outcome = shell("printf 'the cat\\nthe zebra\\nthe cat\\n'" + program + " --json");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome, "1 of 3 lines could not be read")) << outcome.output;
  const std::vector<Json> answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 3u) << outcome.out;
  EXPECT_NE(answers[1]["error"].get<std::string>().find("'zebra'"), std::string::npos);
  EXPECT_EQ(answers[2], answers[0]);
  EXPECT_EQ(answers[0]["predictions"][0]["text"], " sat");  // with its blank
}

TEST_F(Verbs, PredictRefuses) {
  const std::string run = trained();
  refuses("predict", 2, "model is required");
  refuses("predict " + tiny() + " -p the", 2, "is a recipe without weights");
  refuses("predict " + run + " -p the -k 0", 2, "-k is 0; it must be at least 1");
  refuses("predict " + run + " -p the --memory 100000000000", 2, "from 1 to 16777216");
  const std::string words = trained("words", "--tokenizer words");
  refuses("predict " + words + " -p 'the zebra'", 2, "this model cannot read the prompt: words: 'zebra'");
}

}  // namespace
}  // namespace heed::test
