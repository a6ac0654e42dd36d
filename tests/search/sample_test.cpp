// Scores on a text: what of it they see, and what a little training is worth.
#include "heed/search/proxies/sample.h"

#include <gtest/gtest.h>

#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/train/run.h"
#include "tests/support/messages.h"

namespace heed::search {
namespace {

// Letters that follow each other by a rule, so that there is something to learn.
std::string made_text() {
  Rng rng(5);
  std::string made;
  for (int i = 0; i < 20000; ++i)
    made += static_cast<char>('a' + (rng.below(4) ? (i * i) % 7 : rng.below(26)));
  return made;
}

spec::Recipe small_recipe() {
  spec::Recipe recipe;
  recipe.model = spec::read_model_spec(
      Json::parse(R"({"backbone": "transformer-xl", "arch": "(sf)x2", "width": 16, "heads": [2],
        "inner": [32], "vocabulary": 256, "dropout": 0})"),
      "t");
  recipe.training.batch = 4;
  recipe.training.length = 16;
  recipe.training.memory = 16;
  recipe.training.learning_rate = 0.01;
  return recipe;
}

class OnText : public testing::Test {
 protected:
  OnText() { write_file(folder_ / "text.txt", made_text()); }
  SampleSettings settings(int64_t steps = 10) const {
    return {.sequences = 3, .steps = steps, .data = (folder_ / "text.txt").string()};
  }
  double trained(int64_t steps) const {
    Sample sample(settings(steps), folder_ / "cache");
    const spec::Recipe recipe = small_recipe();
    return proxies().find("partial_training").score(recipe.model, sample.of(recipe, 8));
  }
  TemporaryFolder folder_;
};

TEST_F(OnText, ABatchIsTheTextInStreams) {
  Sample sample(settings(), folder_ / "cache");
  const ProxyInput& batch = sample.of(small_recipe(), 8);
  ASSERT_EQ(batch.tokens.size(), 24u);
  ASSERT_TRUE(batch.text);
  const std::string made = made_text();
  const auto stream = static_cast<size_t>(batch.text->tokens.stream(data::Split::kTrain).size() / 3);
  for (size_t row = 0; row < 3; ++row) {
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(batch.tokens[8 * row + i], made[row * stream + i]);
      EXPECT_EQ(batch.targets[8 * row + i], made[row * stream + i + 1]);
    }
  }
  EXPECT_EQ(&sample.of(small_recipe(), 8), &batch);  // read once
  EXPECT_NE(&sample.of(small_recipe(), 4), &batch);
}

TEST_F(OnText, ATextWithMoreWordsThanTheModelIsRefused) {
  spec::Recipe recipe = small_recipe();
  recipe.model.embedding.vocabulary = 100;
  Sample sample(settings(), folder_ / "cache");
  EXPECT_THROW(sample.of(recipe, 8), Error);
}

TEST_F(OnText, PartialTrainingNeedsAText) {
  Sample sample({}, "");
  const spec::Recipe recipe = small_recipe();
  EXPECT_FALSE(sample.of(recipe, 8).text);
  EXPECT_SAYS(sample.score(proxies().find("partial_training"), recipe, 8), "learns from a text; give one");
  EXPECT_SAYS(Sample({16, 100, "nowhere"}, "").check(proxies().find("snip")),
              "--data nowhere does not exist");
}

// What `heed train` reports after so many updates.
TEST_F(OnText, PartialTrainingIsTheHeldOutLossOfAShortRun) {
  class Silent : public train::RunObserver {
    void note(const std::string&) override {}
    void step(const train::StepReport&) override {}
    void evaluated(int64_t, const train::Score&, const data::TextCounts&, bool) override {}
    bool stop() override { return false; }
  } silent;
  train::RunRequest request;
  request.recipe = small_recipe();
  request.recipe.training.steps = 30;
  request.recipe.training.warmup = 3;
  request.data = folder_ / "text.txt";
  request.folder = folder_ / "run";
  const train::RunResult result = train::run_training(request, silent);
  EXPECT_EQ(trained(30), -result.best);
  EXPECT_GT(trained(60), trained(2));
}

TEST_F(OnText, LossesOfTwoVocabulariesCompareWhereWordsAreKnown) {
  std::string words;
  Rng rng(8);
  for (int i = 0; i < 20000; ++i) words += text("w", rng.below(40), i % 10 ? " " : "\n");
  write_file(folder_ / "text.txt", words);
  spec::Recipe recipe = small_recipe();
  recipe.data.tokenizer = "words";
  const Proxy& proxy = proxies().find("partial_training");
  const auto score = [&](Sample& sample, int64_t vocabulary) {
    recipe.data.vocabulary = vocabulary;
    return sample.score(proxy, recipe, 8);
  };
  Sample known(settings(1), folder_ / "cache"), unknown(settings(1), folder_ / "cache");
  EXPECT_LT(score(known, 100), 0);
  EXPECT_LT(score(known, 0), 0);
  EXPECT_LT(score(unknown, 20), 0);  // alone
  EXPECT_SAYS(score(unknown, 100), "of the tokens are unknown words, so its losses cannot be compared");
}

TEST_F(OnText, AModelThatDivergesIsWorseThanAny) {
  spec::Recipe recipe = small_recipe();
  recipe.training.learning_rate = 1e30;
  Sample sample(settings(10), folder_ / "cache");
  EXPECT_LT(proxies().find("partial_training").score(recipe.model, sample.of(recipe, 8)), -1e6);
}

}  // namespace
}  // namespace heed::search
