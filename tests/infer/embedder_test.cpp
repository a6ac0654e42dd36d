// Vectors of texts: batching and padding change nothing, and a real model gives what its own library gives.
#include "heed/infer/embedder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "heed/store/json_file.h"
#include "heed/store/model_folder.h"
#include "tests/support/messages.h"
#include "tests/support/small_models.h"

namespace heed {
namespace {

using infer::Embedder;
using Texts = std::vector<std::vector<int32_t>>;

Embedder small_embedder(Pooling pooling = Pooling::kMean, bool normalize = true,
                        const spec::ModelSpec& spec = test::small_model("bert", "(sf)x2")) {
  return {spec, pooling, normalize, test::weights_for_tests(model::weights_of(spec))};
}

// Of every length from 1 to the longest, in no order of lengths, several times.
Texts texts_of(int64_t longest, int64_t count) {
  Texts texts;
  for (int64_t i = 0; i < count; ++i)
    texts.push_back(test::random_tokens(1 + i * 11 % longest, 29, static_cast<uint32_t>(i)));
  return texts;
}

TEST(Embedder, TextsReadTogetherHaveTheVectorsOfEachAlone) {
  for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst}) {
    Embedder embedder = small_embedder(pooling);
    EXPECT_EQ(embedder.longest(), 32);
    const Texts texts = texts_of(32, 150);
    const auto together = embedder.embed(texts);
    ASSERT_EQ(together.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto alone = embedder.embed(std::span(&texts[i], 1));
      test::expect_equal_to_rounding(together[i], alone[0], text("text ", i));
      EXPECT_NEAR(std::inner_product(alone[0].begin(), alone[0].end(), alone[0].begin(), 0.0), 1, 1e-6);
    }
  }
  EXPECT_TRUE(small_embedder().embed({}).empty());
}

// By the last block's vectors, which encoder_test.cpp holds against PyTorch.
TEST(Embedder, PoolsTheVectorsOfTokens) {
  const Texts texts = texts_of(32, 9);
  Embedder mean = small_embedder(Pooling::kMean, false), first = small_embedder(Pooling::kFirst, false);
  const auto means = mean.embed(texts), firsts = first.embed(texts);
  const auto D = static_cast<size_t>(mean.width());
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> hidden = mean.hidden(texts[i]);
    ASSERT_EQ(hidden.size(), texts[i].size() * D);
    test::expect_equal_to_rounding(firsts[i], std::vector<float>(hidden.begin(), hidden.begin() + 24),
                                   "first");
    std::vector<double> sum(D);
    for (size_t j = 0; j < hidden.size(); ++j) sum[j % D] += hidden[j] / static_cast<double>(texts[i].size());
    test::expect_equal_to_rounding(means[i], sum, "mean");
  }
}

TEST(Embedder, RefusesADecoder) {
  EXPECT_SAYS(small_embedder(Pooling::kMean, true, test::small_model("gpt2", "sf")),
              "the model is a decoder");
}

// all-MiniLM-L6-v2, six layers of BERT, against hidden states that onnxruntime computed from weights in f32.
// Those of the file are rounded to f16, which moves hidden states, the largest of them about 6, by up
// to 2.7e-3.
TEST(Embedder, ARealModelGivesWhatItsLibraryGives) {
  const char* data = std::getenv("HEED_TEST_DATA");
  const std::filesystem::path path = std::filesystem::path(data ? data : "") / "weights" / "minilm";
  if (!data || !std::filesystem::exists(path)) GTEST_SKIP() << "HEED_TEST_DATA has no weights/minilm";
  const store::ModelFolder folder(path);
  const model::Source source([&](const std::string& name, const Tensor& into) { folder.read(name, into); });
  Embedder embedder(folder.recipe().model, Pooling::kMean, true, source);
  const Json reference = store::read_json_object(path / "reference.json");
  const auto expected = reference["last_hidden_state"].get<std::vector<float>>();
  const auto length = reference["shape"][1].get<size_t>(), D = reference["shape"][2].get<size_t>();
  Texts texts;
  double worst = 0;
  for (size_t b = 0; b < reference["ids"].size(); ++b) {
    std::vector<int32_t> text;
    for (size_t t = 0; t < length; ++t) {
      if (reference["mask"][b][t] == 1) text.push_back(reference["ids"][b][t].get<int32_t>());
    }
    const std::vector<float> hidden = embedder.hidden(text);
    for (size_t i = 0; i < hidden.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(hidden[i]) - expected[b * length * D + i]));
  }
  EXPECT_LT(worst, 2.7e-3);
}

}  // namespace
}  // namespace heed
