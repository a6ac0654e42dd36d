#include <cmath>
#include <iterator>
#include <numeric>
#include <sstream>

#include "heed/model/model.h"
#include "heed/store/safetensors.h"
#include "tests/e2e/support.h"
#include "tests/support/small_models.h"

namespace heed::test {
namespace {

constexpr int64_t kWidth = 24, kContext = 16;

using Vectors = std::vector<std::vector<double>>;

// Lines of numbers with tabs between them.
Vectors vectors_of(const std::string& out) {
  Vectors vectors;
  std::istringstream in(out);
  for (std::string line; std::getline(in, line);) {
    std::istringstream numbers(line);
    vectors.emplace_back(std::istream_iterator<double>(numbers), std::istream_iterator<double>());
  }
  return vectors;
}

class Embed : public Verbs {
 protected:
  // A small DistilBERT as Hugging Face has it.
  std::string encoder() const {
    const std::string folder = path("encoder");
    if (std::filesystem::exists(folder + "/model.safetensors")) return folder;
    file("encoder/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\ndog\n##s\na\n.\n");
    file("encoder/config.json",
         R"({"model_type": "distilbert", "activation": "gelu", "dim": 24, "hidden_dim": 32, "n_heads": 2,
            "n_layers": 2, "max_position_embeddings": 16, "vocab_size": 12})");
    std::map<std::string, std::vector<float>> numbers;
    store::Tensors tensors;
    const auto add = [&](const std::string& name, const Shape& shape) {
      std::vector<float>& values = numbers[name];
      Rng rng(3, static_cast<uint32_t>(numbers.size()));
      for (int64_t i = 0; i < shape.elements(); ++i)
        values.push_back(static_cast<float>(0.3 * rng.normal() + name.ends_with("norm.weight")));
      tensors[name] = {values.data(), {shape}};
    };
    const auto layer = [&](const std::string& name, int64_t in, int64_t out) {
      in == 0 ? add(name + ".weight", {out}) : add(name + ".weight", {out, in});
      add(name + ".bias", {out});
    };
    add("embeddings.word_embeddings.weight", {12, kWidth});
    add("embeddings.position_embeddings.weight", {kContext, kWidth});
    layer("embeddings.LayerNorm", 0, kWidth);
    for (const std::string before : {"transformer.layer.0.", "transformer.layer.1."}) {
      for (const char* map : {"q_lin", "k_lin", "v_lin", "out_lin"})
        layer(before + "attention." + map, kWidth, kWidth);
      layer(before + "sa_layer_norm", 0, kWidth);
      layer(before + "ffn.lin1", kWidth, 32);
      layer(before + "ffn.lin2", 32, kWidth);
      layer(before + "output_layer_norm", 0, kWidth);
    }
    store::write_safetensors(folder + "/model.safetensors", tensors);
    return folder;
  }
  // The command, with these lines as its input.
  Outcome embed(const std::string& lines, const std::string& flags = "") const {
    return shell("printf '" + lines + "' | " HEED_PROGRAM " embed " + encoder() + " " + flags);
  }
};

TEST_F(Embed, ALineIsAVector) {
  const Outcome outcome = embed("the cat sat.\\na dog\\r\\n\\nThe CAT sat .");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, outcome.out) << "there is nothing to say";
  const Vectors vectors = vectors_of(outcome.out);
  ASSERT_EQ(vectors.size(), 4u) << outcome.out;
  for (const auto& vector : vectors) {
    ASSERT_EQ(vector.size(), static_cast<size_t>(kWidth));
    EXPECT_NEAR(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0), 1, 1e-5);
  }
  EXPECT_EQ(vectors[0], vectors[3]);
  EXPECT_NE(vectors[0], vectors[1]);
  // The same as JSON, and from a file.
  const Outcome json = heed("embed " + encoder() + " --json " + file("lines.txt", "the cat sat.\na dog\n"));
  std::istringstream in(json.out);
  for (const auto& vector : {vectors[0], vectors[1]}) {
    std::string line;
    ASSERT_TRUE(std::getline(in, line)) << json.output;
    expect_equal_to_rounding(Json::parse(line).get<std::vector<double>>(), vector, "JSON");
  }
  EXPECT_EQ(embed("").out, "");
}

TEST_F(Embed, OrderIsKeptWhateverTheLengths) {
  std::string lines, words;
  for (int i = 0; i < 700; ++i) lines += "the" + words + "\n", words = i % 9 == 8 ? "" : words + " cat";
  const Outcome all = heed("embed " + encoder() + " < " + file("many.txt", lines));
  const Vectors vectors = vectors_of(all.out);
  ASSERT_EQ(vectors.size(), 700u) << all.output;
  for (size_t i = 9; i < vectors.size(); ++i)
    expect_equal_to_rounding(vectors[i], vectors[i % 9], heed::text("line ", i + 1));
  for (size_t i = 1; i < 9; ++i) EXPECT_NE(vectors[i], vectors[i - 1]);
}

TEST_F(Embed, PoolsAndKeepsLengthsAsAsked) {
  const Vectors mean = vectors_of(embed("a cat").out), first = vectors_of(embed("a cat", "--pool first").out),
                raw = vectors_of(embed("a cat", "--no-normalize").out);
  ASSERT_EQ(raw.size(), 1u);
  EXPECT_NE(mean, first);
  const double length = std::sqrt(std::inner_product(raw[0].begin(), raw[0].end(), raw[0].begin(), 0.0));
  EXPECT_GT(std::abs(length - 1), 0.01);
  std::vector<double> scaled = raw[0];
  for (double& value : scaled) value /= length;
  expect_equal_to_rounding(mean[0], scaled, "of length 1");
}

TEST_F(Embed, LongLinesAreCut) {
  std::string line;
  for (int i = 0; i < 40; ++i) line += "cat ";
  const Outcome outcome = embed("a\\n" + line + "\\n" + line + "dog\\n" + line.substr(0, 14 * 4) + "\\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(
      outcome, "2 of 4 lines are cut: they have more than the model's 16 tokens; the first is line 2"))
      << outcome.output;
  const Vectors vectors = vectors_of(outcome.out);
  ASSERT_EQ(vectors.size(), 4u);
  expect_equal_to_rounding(vectors[1], vectors[3], "the first 14 words");
}

TEST_F(Embed, Refuses) {
  refuses("embed", 2, "model is required");
  refuses("embed " + path("nothing"), 2, "does not exist");
  refuses("embed " + encoder() + " --pool max", 2, "--pool: 'max' is not one of mean, first");
  refuses("embed " + encoder() + " " + path("nothing"), 2, "cannot be read: No such file");
  refuses("embed " + trained(), 2, "the model is a decoder: its tokens see only those before them");
  refuses("generate " + encoder() + " -p the", 2, "it continues no text");
  refuses("predict " + encoder() + " -p the", 2, "it continues no text");
  refuses("eval " + encoder() + " --data " + text(), 2, "trains the head next-token, the model has hidden");
  // What came before a line that cannot be read has its vectors.
  const Outcome damaged = embed("a cat\\na \\377 dog\\na dog\\n");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_TRUE(contains(damaged, "line 2 of standard input is not UTF-8")) << damaged.output;
  EXPECT_EQ(vectors_of(damaged.out).size(), 1u);
  // No vocabulary, or one of another kind.
  const std::string vocabulary = encoder() + "/vocab.txt";
  std::filesystem::rename(vocabulary, path("away"));
  refuses("embed " + encoder(), 2, "has neither tokenizer.json");
  std::filesystem::copy_file(trained() + "/model/tokenizer.json", encoder() + "/tokenizer.json");
  refuses("embed " + encoder(), 2, "it belongs to another model");
}

}  // namespace
}  // namespace heed::test
