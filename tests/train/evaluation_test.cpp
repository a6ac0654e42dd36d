// Scores against a plain sum over the text, one token at a time.
#include "heed/train/evaluation.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numbers>

#include "heed/base/files.h"
#include "heed/train/corpus_tokens.h"
#include "heed/train/tasks.h"
#include "tests/support/rounding.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using test::small_model;

// A text of random bytes as a corpus whose test part is everything.
class Text {
 public:
  explicit Text(int64_t size) {
    std::string all;
    for (int32_t token : test::random_tokens(size, 20)) all += static_cast<char>('a' + token);
    std::ofstream(folder_ / "test.txt") << all;
    std::ofstream(folder_ / "train.txt") << "abc";
    spec::DataSpec data;
    data.tokenizer = "bytes";
    tokens_ = std::make_unique<train::CorpusTokens>(
        train::open_tokens(data, folder_.path(), "", folder_ / "cache"));
  }
  const train::CorpusTokens& tokens() const { return *tokens_; }
  std::vector<int32_t> ids() const {
    const data::TokenStream& stream = tokens_->stream(data::Split::kTest);
    std::vector<int32_t> ids(static_cast<size_t>(stream.size()));
    stream.copy(0, stream.size(), ids.data());
    return ids;
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<train::CorpusTokens> tokens_;
};

spec::ModelSpec model(const std::string& backbone, const std::string& arch) {
  spec::ModelSpec spec = small_model(backbone, arch);
  spec.embedding.vocabulary = 256;
  return spec;
}

train::Score score(const spec::ModelSpec& spec, const spec::EvaluationSpec& protocol, const Text& text,
                   bool packed = false, int64_t most = 0, const std::function<bool(int64_t)>& progress = {},
                   const train::Task& task = train::next_token_task()) {
  const auto parameters = std::make_shared<graph::NamedTensors>();
  train::Scorer scorer(task, spec, protocol, parameters,
                       packed ? model::WeightForm::kPacked : model::WeightForm::kPlain);
  model::fill_weights(scorer.graph(), scorer.weights(), *parameters,
                      test::weights_for_tests(scorer.weights()));
  const auto batches = task.scoring_batches(protocol, text.tokens(), data::Split::kTest);
  const train::Score first = scorer.run(*batches, most, progress);
  if (!progress) {
    const train::Score second = scorer.run(*batches, most);  // nothing is left of the first
    EXPECT_EQ(first.nats, second.nats);
    EXPECT_EQ(first.tokens, second.tokens);
  }
  return first;
}

// -log p(ids[i + 1]) summed over begin <= i < end of one text, in double, from scores made with T = 1.
double plain_nats(const spec::ModelSpec& spec, std::span<const int32_t> ids, int64_t memory,
                  size_t begin = 0) {
  test::Runner runner(spec,
                      {model::Inference{.end = model::GraphEnd::kScores, .past = model::memory(memory)}});
  double nats = 0;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    const std::vector<float> scores = runner.run(ids.subspan(i, 1));
    double sum = 0;
    for (float s : scores) sum += std::exp(static_cast<double>(s));
    if (i >= begin) nats += std::log(sum) - static_cast<double>(scores[static_cast<size_t>(ids[i + 1])]);
  }
  return nats;
}

spec::EvaluationSpec protocol(int64_t length, int64_t memory, int64_t batch = 1) {
  spec::EvaluationSpec protocol;
  protocol.length = length, protocol.memory = memory, protocol.batch = batch;
  return protocol;
}

// Off by the rounding of every loss: five sums in each of six blocks, of up to 40 terms.
const double kRounding = test::rounding_bound(40, 6 * 5);

void expect_nats(double actual, double expected, const std::string& what) {
  EXPECT_NEAR(actual, expected, kRounding * expected) << what;
}

const std::vector<std::pair<const char*, const char*>> kModels = {
    {"transformer-xl", "(sf)x2"}, {"sru++", "(ra)x2"}, {"sru++", "sfriaf"}};

TEST(Scorer, EqualsAPlainSumWhereMemoryHoldsTheText) {
  const Text text(83);
  for (const auto& [backbone, arch] : kModels) {
    const spec::ModelSpec spec = model(backbone, arch);
    const double expected = plain_nats(spec, text.ids(), 83);
    for (const bool packed : {false, true}) {
      for (const int64_t length : {1, 7, 82, 100}) {  // 82 predictions: with and without a short last segment
        const train::Score result = score(spec, protocol(length, 83), text, packed);
        EXPECT_EQ(result.tokens, 82);
        expect_nats(result.nats, expected, heed::text(arch, ", length ", length, packed ? ", packed" : ""));
      }
    }
  }
}

// The band means that it does not matter how the text is cut into segments.
TEST(Scorer, BandsEqualOneByOne) {
  const Text text(83);
  for (const auto& [backbone, arch] : kModels) {
    const spec::ModelSpec spec = model(backbone, arch);
    for (const int64_t memory : {5, 16}) {
      const double expected = plain_nats(spec, text.ids(), memory);
      spec::EvaluationSpec band = protocol(9, memory);
      band.visible = Visible::kBand;
      expect_nats(score(spec, band, text).nats, expected, heed::text(arch, ", memory ", memory));
      band.visible = Visible::kAll;
      EXPECT_GT(std::abs(score(spec, band, text).nats - expected), kRounding * expected)
          << "a band is nothing special";
    }
  }
}

// However a segment begins, each token sees the same number of keys: in NVIDIA's count itself and the memory,
// in that of the authors the memory with itself. With one layer keys are words themselves, so the reference
// can begin a text anew for each token.
TEST(Scorer, SameLengthSeesAsMuchForEveryToken) {
  const Text text(60);
  const spec::ModelSpec spec = model("transformer-xl", "sf");
  const std::vector<int32_t> ids = text.ids();
  for (const auto& [visible, extra] :
       {std::pair{Visible::kSameLength, 1}, {Visible::kSameLengthOriginal, 0}, {Visible::kBand, 1}}) {
    spec::EvaluationSpec same = protocol(6, 11);
    same.visible = visible;
    double expected = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      // Keys seen, the token itself among them.
      const size_t keys = std::min<size_t>(i + 1, static_cast<size_t>(11 + extra));
      const auto context = std::span(ids).subspan(i + 1 - keys, keys + 1);
      expected += plain_nats(spec, context, 60, keys - 1);
    }
    expect_nats(score(spec, same, text).nats, expected, enum_name(visible));
  }
}

TEST(Scorer, StreamsAreTextsOfTheirOwn) {
  const Text text(83);
  const spec::ModelSpec spec = model("transformer-xl", "rsfaf");
  const std::vector<int32_t> ids = text.ids();
  double expected = 0;
  for (size_t stream = 0; stream < 4; ++stream)
    expected += plain_nats(spec, std::span(ids).subspan(20 * stream, 20), 30);
  for (const bool packed : {false, true}) {
    const train::Score result = score(spec, protocol(7, 30, 4), text, packed);
    EXPECT_EQ(result.tokens, 4 * 19);
    expect_nats(result.nats, expected, packed ? "packed" : "plain");
  }
}

// With a warm-up each stream begins with what ends the one before, the first with the end of the last.
TEST(Scorer, AWarmUpGivesEveryStreamItsPast) {
  const Text text(80);
  const spec::ModelSpec spec = model("transformer-xl", "(sf)x2");
  const std::vector<int32_t> ids = text.ids();
  spec::EvaluationSpec warm = protocol(5, 10, 4);
  warm.warm_up = true;
  double expected = 0;
  for (size_t stream = 0; stream < 4; ++stream) {
    std::vector<int32_t> around;
    for (size_t i = 0; i < 30; ++i) around.push_back(ids[(20 * stream + 70 + i) % 80]);
    // Segments of 5 with a memory of 10, as the protocol has them.
    test::Runner runner(spec, {model::Inference{.past = model::memory(10)}, 1, 5});
    for (size_t at = 0; at < 30; at += 5) {
      std::vector<int32_t> targets;
      for (size_t i = at + 1; i <= at + 5; ++i) targets.push_back(i < 30 && at >= 10 ? around[i] : -1);
      for (float loss : runner.run(std::span(around).subspan(at, 5), targets))
        expected += static_cast<double>(loss);
    }
  }
  const train::Score result = score(spec, warm, text);
  EXPECT_EQ(result.tokens, 4 * 19);
  expect_nats(result.nats, expected, "warmed up");
  warm.warm_up = false;
  EXPECT_GT(std::abs(score(spec, warm, text).nats - expected), kRounding * expected);
}

// Learned places begin again with every segment: each is a text of its own.
TEST(Scorer, LearnedPlacesForgetBetweenSegments) {
  const Text text(61);
  const spec::ModelSpec spec = model("gpt2", "(sf)x2");
  const std::vector<int32_t> ids = text.ids();
  double expected = 0;
  for (size_t at = 0; at < 60; at += 12) {
    for (size_t i = at; i < at + 12; ++i) {
      std::vector<int32_t> targets(i - at + 1, -1);
      targets.back() = ids[i + 1];
      expected += static_cast<double>(test::Runner(spec, {.length = static_cast<int64_t>(i - at + 1)})
                                          .run(std::span(ids).subspan(at, i - at + 1), targets)
                                          .back());
    }
  }
  for (const int64_t memory : {0, 9}) {
    for (const bool packed : {false, true}) {
      const train::Score result = score(spec, protocol(12, memory), text, packed);
      EXPECT_EQ(result.tokens, 60);
      expect_nats(result.nats, expected, packed ? "packed" : "plain");
    }
  }
  EXPECT_THROW(score(spec, protocol(33, 0), text), Error);
}

// Of another task: how many targets a model finds likelier than a coin.
class LikelyMeter : public train::LossMeter {
 public:
  explicit LikelyMeter(const Batch& batch) : LossMeter(batch), targets_(batch.ints("targets")) {}
  void add(std::span<const float> losses, std::span<const float> scores) override {
    LossMeter::add(losses, scores);
    for (size_t i = 0; i < losses.size(); ++i) likely_ += targets_[i] >= 0 && losses[i] < std::numbers::ln2;
  }
  train::Score score() const override {
    train::Score score = LossMeter::score();
    score.metrics.insert(score.metrics.begin(), {"likely", static_cast<double>(likely_), true});
    return score;
  }

 private:
  std::span<const int32_t> targets_;
  int64_t likely_ = 0;
};

TEST(Scorer, MeasuresWhatTheTaskSays) {
  const Text text(50);
  const spec::EvaluationSpec protocol{.length = 7, .memory = 7};
  const spec::ModelSpec spec = model("transformer-xl", "sf");
  const train::Score usual = score(spec, protocol, text);
  ASSERT_EQ(usual.metrics.size(), 1u);
  EXPECT_EQ(usual.metrics[0].name, "loss");
  EXPECT_EQ(usual.metrics[0].value, usual.mean());
  EXPECT_TRUE(usual.metrics[0].is_better_than(usual.mean() + 1));
  train::Task task = train::next_token_task();
  task.meter = [](const Batch& batch) -> std::unique_ptr<train::Meter> {
    return std::make_unique<LikelyMeter>(batch);
  };
  const train::Score other = score(spec, protocol, text, false, 0, {}, task);
  EXPECT_EQ(other.nats, usual.nats);
  ASSERT_EQ(other.metrics.size(), 2u);
  int64_t likely = 0;
  test::Runner runner(spec, {model::Inference{.end = model::GraphEnd::kScores, .past = model::memory(7)}});
  const std::vector<int32_t> ids = text.ids();
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    const std::vector<float> scores = runner.run(std::span(ids).subspan(i, 1));
    double sum = 0;
    for (const float s : scores) sum += std::exp(static_cast<double>(s));
    likely += std::exp(static_cast<double>(scores[static_cast<size_t>(ids[i + 1])])) / sum > 0.5;
  }
  EXPECT_EQ(other.metrics[0].value, static_cast<double>(likely));
  EXPECT_TRUE(other.metrics[0].is_better_than(static_cast<double>(likely) - 1));
}

TEST(Scorer, StopsWhenItHasEnoughOrIsAsked) {
  const Text text(83);
  const spec::ModelSpec spec = model("transformer-xl", "sf");
  EXPECT_EQ(score(spec, protocol(10, 10), text, false, 25).tokens, 30);
  int64_t asked = 0;
  EXPECT_EQ(score(spec, protocol(10, 10), text, false, 0,
                  [&](int64_t done) {
                    EXPECT_EQ(done, ++asked);
                    return done < 4;
                  })
                .tokens,
            40);
}

TEST(Score, Units) {
  const train::Score score{2 * std::numbers::ln2 * 10, 10};
  EXPECT_DOUBLE_EQ(score.mean(), 2 * std::numbers::ln2);
  EXPECT_DOUBLE_EQ(score.bits_per_token(), 2);
  EXPECT_DOUBLE_EQ(score.perplexity(), 4);
  EXPECT_EQ(train::Score{}.mean(), 0);
  EXPECT_EQ(train::describe(protocol(64, 640)),
            "target 64, memory 640, clamp off, keys all, memory empty at first, 1 stream");
}

}  // namespace
}  // namespace heed
