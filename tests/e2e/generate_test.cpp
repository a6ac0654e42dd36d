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
  EXPECT_TRUE(contains(outcome, "tokens: 7 of the prompt")) << outcome.output;
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
  refuses(generate, 2, "is a folder without a model");
}

}  // namespace
}  // namespace heed::test
