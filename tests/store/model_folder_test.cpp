// Models on disk: heed's own, and those of other families as Hugging Face has them.
#include "heed/store/model_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <tuple>

#include "heed/base/files.h"
#include "heed/store/gpt2_names.h"
#include "heed/store/json_file.h"
#include "heed/tensor/half.h"
#include "tests/support/messages.h"
#include "tests/support/python.h"
#include "tests/support/small_models.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;
using test::small_model;

// All weights of a model, filled.
class Held {
 public:
  explicit Held(const spec::ModelSpec& spec) {
    const model::Weights weights = model::weights_of(spec);
    const model::Source source = test::weights_for_tests(weights);
    for (const auto& [name, weight] : weights.plain) {
      std::vector<float>& values = values_[name];
      values.resize(static_cast<size_t>(weight.shape.elements()));
      tensors_[name] = {values.data(), {weight.shape}};
      source(name, tensors_[name]);
    }
  }
  const Tensors& tensors() const { return tensors_; }
  const std::vector<float>& values(const std::string& name) const { return values_.at(name); }

 private:
  std::map<std::string, std::vector<float>> values_;
  Tensors tensors_;
};

spec::Recipe recipe_of(const spec::ModelSpec& spec) {
  spec::Recipe recipe;
  recipe.model = spec;
  recipe.about = "a test";
  recipe.training.steps = 77;
  return recipe;
}

// Every weight of the model as the folder gives it.
void expect_weights(const ModelFolder& folder, const Held& held) {
  for (const auto& [name, tensor] : held.tensors()) {
    std::vector<float> read(held.values(name).size());
    folder.read(name, {read.data(), tensor.type});
    EXPECT_EQ(read, held.values(name)) << name;
  }
}

TEST(ModelFolder, GivesBackWhatItWasGiven) {
  const TemporaryFolder folder;
  spec::ModelSpec adaptive = small_model("transformer-xl", "(sff)x2");
  adaptive.embedding.cutoffs = {9, 17}, adaptive.embedding.division = 2;
  for (const spec::ModelSpec& spec : {small_model("gpt2", "(sf)x3"), small_model("gpt2", "srff"),
                                      small_model("sru++", "sfriaf"), adaptive}) {
    const Held held(spec);
    const Json tokenizer = {{"kind", "bytes"}};
    EXPECT_FALSE(is_model_folder(folder / spec.arch));
    save_model_folder(folder / spec.arch, recipe_of(spec), held.tensors(), tokenizer, "");
    EXPECT_TRUE(is_model_folder(folder / spec.arch));
    const ModelFolder model(folder / spec.arch);
    EXPECT_EQ(to_json(model.recipe()), to_json(recipe_of(spec)));
    EXPECT_EQ(model.recipe().name, spec.arch);
    EXPECT_EQ(read_json_object(model.path() / "tokenizer.json"), tokenizer);
    expect_weights(model, held);
  }
}

TEST(ModelFolder, AModelIsReplacedAsAWhole) {
  const TemporaryFolder folder;
  const spec::ModelSpec first = small_model("gpt2", "(sf)x3"), second = small_model("sru++", "(a)x2");
  save_model_folder(folder / "model", recipe_of(first), Held(first).tensors(), Json::object(), "");
  save_model_folder(folder / "model", recipe_of(second), Held(second).tensors(), Json::object(), "");
  expect_weights(ModelFolder(folder / "model"), Held(second));
  EXPECT_EQ(ModelFolder(folder / "model" / "").recipe().name, "model");
  int64_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++entries;
  EXPECT_EQ(entries, 1) << "the old one, or a half, is still there";
}

// Names and shapes as Hugging Face's GPT2LMHeadModel reads them; its matrices are [in, out] too.
TEST(ModelFolder, Gpt2HasTheNamesOfHuggingFace) {
  const TemporaryFolder folder;
  const spec::ModelSpec spec = small_model("gpt2", "(sf)x2");
  save_model_folder(folder / "model", recipe_of(spec), Held(spec).tensors(), Json::object(), "");
  const Safetensors file(folder / "model" / "model.safetensors");
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, tensor] : file.all()) shapes[name] = tensor.shape;
  std::map<std::string, std::vector<int64_t>> expected = {{"transformer.wte.weight", {29, 24}},
                                                          {"transformer.wpe.weight", {32, 24}},
                                                          {"transformer.ln_f.weight", {24}},
                                                          {"transformer.ln_f.bias", {24}}};
  for (const std::string layer : {"transformer.h.0.", "transformer.h.1."}) {
    for (const char* norm : {"ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"})
      expected[layer + norm] = {24};
    expected[layer + "attn.c_attn.weight"] = {24, 72}, expected[layer + "attn.c_attn.bias"] = {72};
    expected[layer + "attn.c_proj.weight"] = {24, 24}, expected[layer + "attn.c_proj.bias"] = {24};
    expected[layer + "mlp.c_fc.weight"] = {24, 37}, expected[layer + "mlp.c_fc.bias"] = {37};
    expected[layer + "mlp.c_proj.weight"] = {37, 24}, expected[layer + "mlp.c_proj.bias"] = {24};
  }
  EXPECT_EQ(shapes, expected);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  const Json config = read_json_object(folder / "model" / "config.json");
  const std::map<std::string, Json> settings = {
      {"model_type", "gpt2"}, {"n_layer", 2},      {"n_embd", 24},     {"n_head", 3},
      {"n_inner", 37},        {"n_positions", 32}, {"vocab_size", 29}, {"activation_function", "gelu_new"}};
  for (const auto& [key, value] : settings) EXPECT_EQ(config.value(key, Json()), value) << key;
  EXPECT_THROW(gpt2_name("blocks.0.recurrence.v"), Error);
  // Numpy alone reads the file.
  const test::PythonResult seen = test::run_python("safetensors_file.py check '" +
                                                   (folder / "model" / "model.safetensors").string() + "'");
  HEED_NEEDS_ORACLE(seen.missing());
  EXPECT_EQ(seen.code, 0) << seen.output;
  EXPECT_NE(seen.output.find("transformer.h.1.mlp.c_proj.weight"), std::string::npos) << seen.output;
}

TEST(ModelFolder, OnlyWhatTheirsCanExpressHasTheirNames) {
  const TemporaryFolder folder;
  EXPECT_TRUE(is_plain_gpt2(small_model("gpt2", "(sf)x2")));
  const std::function<void(spec::ModelSpec&)> changes[] = {
      [](auto& s) { s.arch = "ssff"; },
      [](auto& s) { s.arch = "sfs"; },
      [](auto& s) {
        s.sizes["heads"] = {3, 4};
      },
      [](auto& s) {
        s.sizes["inner"] = {37, 38};
      },
      [](auto& s) { s.attention.head_width = 5; },
      [](auto& s) { s.norm = Norm::kPost; },
      [](auto& s) { s.final_norm = false; },
      [](auto& s) { s.feed_forward.activation = InnerActivation::kRelu; },
      [](auto& s) { s.attention.bias = false; },
      [](auto& s) { s.embedding.width = 12; },
      [](auto& s) { s.embedding.cutoffs = {9}; },
      [](auto& s) { s.head.tie_weights = false; },
      [](auto& s) { s.embedding.scale = true; },
      [](auto& s) { s.head.bias = true; },
      [](auto& s) { s.positions = Positions::kRelative; }};
  for (size_t i = 0; i < std::size(changes); ++i) {
    spec::ModelSpec spec = small_model("gpt2", "(sf)x2");
    changes[i](spec);
    EXPECT_FALSE(is_plain_gpt2(spec)) << i;
    const std::string name = "model" + std::to_string(i);
    save_model_folder(folder / name, recipe_of(spec), Held(spec).tensors(), Json::object(), "");
    EXPECT_EQ(read_json_object(folder / name / "config.json")["model_type"], "heed") << i;
    expect_weights(ModelFolder(folder / name), Held(spec));
  }
}

// config.json as their library writes it for a small model.
Json their_config() {
  return {{"activation_function", "gelu_new"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"attn_pdrop", 0.1},
          {"bos_token_id", 50256},
          {"embd_pdrop", 0.1},
          {"initializer_range", 0.02},
          {"layer_norm_epsilon", 1e-05},
          {"model_type", "gpt2"},
          {"n_ctx", 32},
          {"n_embd", 24},
          {"n_head", 3},
          {"n_inner", nullptr},
          {"n_layer", 2},
          {"n_positions", 32},
          {"resid_pdrop", 0.2},
          {"scale_attn_by_inverse_layer_idx", false},
          {"scale_attn_weights", true},
          {"task_specific_params", {{"text-generation", {{"do_sample", true}}}}},
          {"vocab_size", 29}};
}

// A folder of theirs: no "heed", names with or without their prefix, and tensors that heed has no use for.
void write_theirs(const fs::path& path, const std::string& prefix, const Json& config = their_config()) {
  spec::ModelSpec spec = small_model("gpt2", "(sf)x2");
  spec.sizes["inner"] = {96};
  const Held held(spec);
  Tensors named;
  for (const auto& [name, tensor] : held.tensors()) named[prefix + gpt2_name(name)] = tensor;
  std::vector<float> mask(32 * 32, 1), value(1, -1e4f);
  named[prefix + "h.0.attn.bias"] = {mask.data(), {{1, 1, 32, 32}}};
  named[prefix + "h.0.attn.masked_bias"] = {value.data(), {Shape{}}};
  named["lm_head.weight"] = held.tensors().at("embedding.table");
  fs::create_directories(path);
  write_safetensors(path / "model.safetensors", named);
  std::ofstream(path / "config.json") << config;
}

TEST(ModelFolder, WeightsOf16BitsAreReadAsTheNearest) {
  const TemporaryFolder folder;
  const spec::ModelSpec spec = small_model("gpt2", "sfsf");
  const Held held(spec);
  for (const auto& [dtype, theirs, to, from] : {std::tuple(DType::kF16, "float16", &to_f16, &from_f16),
                                                std::tuple(DType::kBF16, "bfloat16", &to_bf16, &from_bf16)}) {
    const fs::path path = folder / name_of(dtype);
    save_model_folder(path, recipe_of(spec), held.tensors(), Json::object(), "", dtype);
    EXPECT_EQ(read_json_object(path / "config.json")["torch_dtype"], theirs);
    EXPECT_EQ(Safetensors(path / "model.safetensors").info("transformer.wte.weight").type->name,
              stored_name(dtype));
    const ModelFolder model(path);
    for (const auto& [name, tensor] : held.tensors()) {
      std::vector<float> got(tensor.floats().size());
      model.read(name, {got.data(), tensor.type});
      for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], from(to(tensor.floats()[i]))) << name;
    }
  }
}

TEST(ModelFolder, ReadsAGpt2OfHuggingFace) {
  const TemporaryFolder folder;
  for (const std::string prefix : {"", "transformer."}) {
    const fs::path path = folder / ("gpt2" + prefix);
    write_theirs(path, prefix);
    const ModelFolder model(path);
    const spec::ModelSpec& spec = model.recipe().model;
    EXPECT_EQ(spec.letters(), "sfsf");
    EXPECT_EQ(spec.sizes["inner"], std::vector<int64_t>{96});  // null: four times the width
    EXPECT_EQ(spec.embedding.context, 32);
    EXPECT_EQ(spec.dropout, 0.2);
    EXPECT_EQ(model.recipe().data.tokenizer, "bpe");
    EXPECT_EQ(model.recipe().evaluation.length, 32);
    expect_weights(model, Held(spec));
  }
}

TEST(ModelFolder, ConfigurationsThatCannotBeBuiltAreRefused) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& key, const Json& value) {
    Json config = their_config();
    config[key] = value;
    write_theirs(folder / "model", "", config);
    const std::string said = test::message_of([&] { ModelFolder model(folder / "model"); });
    EXPECT_NE(said.find("config.json"), std::string::npos) << key << ": '" << said << "'";
    return said;
  };
  const auto says = [&](const std::string& key, const Json& value, const std::string& part) {
    const std::string said = message(key, value);
    EXPECT_NE(said.find(part), std::string::npos) << key << " " << value << ": '" << said << "'";
  };
  says("activation_function", "relu", "activation_function is \"relu\"; heed builds GPT-2 with gelu_new");
  says("activation_function", 3, "activation_function");
  says("model_type", "llama", "model_type is \"llama\"");
  says("model_type", 7, "model_type");
  says("scale_attn_weights", false, "scale_attn_weights is false; heed builds GPT-2 with true");
  says("tie_word_embeddings", false, "tie_word_embeddings");
  says("n_layer", "two", "n_layer is \"two\", not a whole number");
  says("n_layer", 0, "");
  says("n_layer", -1, "");
  says("n_embd", 2.5, "n_embd is 2.5");
  says("n_embd", int64_t{1} << 62, "n_embd is 4611686018427387904, far beyond any model");
  says("n_embd", UINT64_MAX, "n_embd is 18446744073709551615");
  says("n_head", 5, "not a multiple of heads 5");
  says("vocab_size", 0, "vocabulary is 0");
  says("layer_norm_epsilon", "small", "layer_norm_epsilon");
  says("layer_norm_epsilon", -1, "epsilon");
  says("resid_pdrop", true, "resid_pdrop is true, not a number");
  says("heed", 5, "recipe");
  says("heed", {{"model", {{"widht", 3}}}}, "did you mean 'width'?");
}

TEST(ModelFolder, DamagedFoldersAreRefused) {
  const TemporaryFolder folder;
  EXPECT_SAYS(ModelFolder(folder / "nothing"), "config.json");
  const fs::path path = folder / "model";
  write_theirs(path, "");
  std::ofstream(path / "config.json") << "{\"model_type\": \"gp";
  EXPECT_SAYS(ModelFolder{path}, "config.json: is not JSON", ErrorKind::kDamaged);
  std::ofstream(path / "config.json") << "[1, 2]";
  EXPECT_SAYS(ModelFolder{path}, "config.json", ErrorKind::kDamaged);
  std::ofstream(path / "config.json") << "{}";
  EXPECT_SAYS(ModelFolder{path}, "heed reads its own models and Hugging Face's bert, distilbert, gpt2");
  write_theirs(path, "");
  fs::resize_file(path / "model.safetensors", 3000);
  EXPECT_SAYS(ModelFolder{path}, "model.safetensors", ErrorKind::kDamaged);
  fs::remove(path / "model.safetensors");
  EXPECT_SAYS(ModelFolder{path}, "model.safetensors");
}

TEST(ModelFolder, WeightsOfAnotherArchitectureAreRefusedWithBothShapes) {
  const TemporaryFolder folder;
  const spec::ModelSpec small = small_model("sru++", "(a)x2");
  spec::ModelSpec wide = small, deep = small;
  wide.width = 48, deep.arch = "(a)x3";
  for (const spec::ModelSpec& spec : {small, wide, deep})
    save_model_folder(folder / (spec.arch + std::to_string(spec.width)), recipe_of(spec),
                      Held(spec).tensors(), Json::object(), "");
  const auto exchange = [&](const std::string& from) {
    fs::copy_file(folder / from / "model.safetensors", folder / "(a)x224" / "model.safetensors",
                  fs::copy_options::overwrite_existing);
    return ModelFolder(folder / "(a)x224");
  };
  std::vector<float> values(24 * 29);
  const Tensor table{values.data(), {{29, 24}}};
  EXPECT_SAYS(exchange("(a)x248").read("embedding.table", table),
              "'embedding.table' is F32[29, 48], the model of config.json needs f32[29, 24]");
  // As many numbers in another shape are wrong as well.
  const Tensor turned{values.data(), {{24, 29}}};
  EXPECT_SAYS(ModelFolder(folder / "(a)x324").read("embedding.table", turned), "needs f32[24, 29]");
  EXPECT_SAYS(ModelFolder(folder / "(a)x324").read("blocks.7.recurrence.v", table),
              "has no tensor 'blocks.7.recurrence.v'; the weights are of another architecture");
}

// BERT and DistilBERT as their library writes them: small ones, without the settings that do not matter here.
Json their_bert() {
  return {{"architectures", {"BertModel"}},
          {"attention_probs_dropout_prob", 0.1},
          {"hidden_act", "gelu"},
          {"hidden_dropout_prob", 0.2},
          {"hidden_size", 24},
          {"intermediate_size", 37},
          {"layer_norm_eps", 1e-7},
          {"max_position_embeddings", 32},
          {"model_type", "bert"},
          {"num_attention_heads", 3},
          {"num_hidden_layers", 2},
          {"position_embedding_type", "absolute"},
          {"type_vocab_size", 2},
          {"vocab_size", 29}};
}

Json their_distilbert() {
  return {{"activation", "gelu"},
          {"attention_dropout", 0.1},
          {"dim", 24},
          {"dropout", 0.2},
          {"hidden_dim", 37},
          {"max_position_embeddings", 32},
          {"model_type", "distilbert"},
          {"n_heads", 3},
          {"n_layers", 2},
          {"sinusoidal_pos_embds", false},
          {"vocab_size", 29}};
}

// A weight in their layout: matrices [out, in]; queries, keys and values apart.
struct Theirs {
  std::map<std::string, std::vector<float>> numbers;
  std::map<std::string, Shape> shapes;

  // The columns from `first` on of heed's matrix, or the elements of its vector.
  void add(const Held& held, const std::string& ours, const std::string& name, int64_t first = 0,
           int64_t columns = 0) {
    const Tensor& from = held.tensors().at(ours);
    const Shape& shape = from.shape();
    if (columns == 0) columns = shape.dim(-1);
    std::vector<float>& to = numbers[name];
    if (shape.rank() == 1) {
      to.assign(from.f32() + first, from.f32() + first + columns);
      shapes[name] = Shape{columns};
      return;
    }
    for (int64_t column = first; column < first + columns; ++column) {
      for (int64_t row = 0; row < shape.dim(0); ++row) to.push_back(from.f32()[row * shape.dim(1) + column]);
    }
    shapes[name] = Shape{columns, shape.dim(0)};
  }
  void copy(const Held& held, const std::string& ours, const std::string& name) {
    numbers[name] = held.values(ours);
    shapes[name] = held.tensors().at(ours).shape();
  }
  void write(const fs::path& path, const Json& config, const std::string& prefix, DType dtype) {
    Tensors tensors;
    for (auto& [name, values] : numbers) tensors[prefix + name] = {values.data(), {shapes.at(name)}};
    fs::create_directories(path);
    write_safetensors(path / "model.safetensors", tensors, {}, dtype);
    std::ofstream(path / "config.json") << config;
  }
};

spec::ModelSpec small_bert(int64_t types) {
  spec::ModelSpec spec = small_model("bert", "(sf)x2");
  spec.embedding.types = types;
  return spec;
}

// `names`: how theirs calls norm, queries, keys, values and output of attention, norm, first and second map
// of the feed-forward.
Theirs theirs_of(const Held& held, const std::string& layers, const std::array<const char*, 8>& names,
                 bool types, bool gamma) {
  Theirs all;
  all.copy(held, "embedding.table", "embeddings.word_embeddings.weight");
  all.copy(held, "embedding.positions", "embeddings.position_embeddings.weight");
  if (types) all.copy(held, "embedding.types", "embeddings.token_type_embeddings.weight");
  for (const char* kind : {"weight", "bias"}) {
    const std::string theirs = gamma ? (kind == std::string("weight") ? "gamma" : "beta") : kind;
    const auto norm_kind = [&](const std::string& name) {
      return name + "." + (name.ends_with("LayerNorm") ? theirs : kind);
    };
    all.add(held, text("embedding.norm.", kind), norm_kind("embeddings.LayerNorm"));
    for (int64_t layer = 0; layer < 2; ++layer) {
      const std::string s = text("blocks.", 2 * layer, "."), f = text("blocks.", 2 * layer + 1, "."),
                        before = text(layers, layer, ".");
      all.add(held, s + "norm." + kind, norm_kind(before + names[0]));
      for (int64_t i = 0; i < 3; ++i)
        all.add(held, s + "attention.qkv." + kind, text(before, names[static_cast<size_t>(i) + 1], ".", kind),
                24 * i, 24);
      all.add(held, s + "attention.out." + kind, text(before, names[4], ".", kind));
      all.add(held, f + "norm." + kind, norm_kind(before + names[5]));
      all.add(held, f + "feed_forward.in." + kind, text(before, names[6], ".", kind));
      all.add(held, f + "feed_forward.out." + kind, text(before, names[7], ".", kind));
    }
  }
  return all;
}

Theirs bert_of(const Held& held, bool gamma = false) {
  return theirs_of(
      held, "encoder.layer.",
      {"attention.output.LayerNorm", "attention.self.query", "attention.self.key", "attention.self.value",
       "attention.output.dense", "output.LayerNorm", "intermediate.dense", "output.dense"},
      true, gamma);
}

// As a whole, and some rows at a time.
void expect_all_weights(const ModelFolder& folder, const Held& held) {
  expect_weights(folder, held);
  for (const auto& [name, tensor] : held.tensors()) {
    if (tensor.shape().rank() != 2) continue;
    const int64_t rows = tensor.shape().dim(0), width = tensor.shape().dim(1), first = rows / 3;
    std::vector<float> some(static_cast<size_t>((rows - first) * width));
    folder.read_rows(name, tensor.shape(), first, {some.data(), {{rows - first, width}}});
    EXPECT_TRUE(std::equal(some.begin(), some.end(), held.values(name).begin() + first * width)) << name;
  }
}

TEST(ModelFolder, ReadsABertOfHuggingFace) {
  const TemporaryFolder folder;
  const Held held(small_bert(2));
  for (const std::string prefix : {"", "bert."}) {
    for (const bool gamma : {false, true}) {
      const fs::path path = folder / text("bert", prefix, gamma);
      Theirs theirs = bert_of(held, gamma);
      theirs.copy(held, "embedding.table", "cls.predictions.decoder.weight");  // of no use here
      theirs.write(path, their_bert(), prefix, DType::kF32);
      const ModelFolder model(path);
      const spec::ModelSpec& spec = model.recipe().model;
      EXPECT_EQ(spec.stack, "encoder");
      EXPECT_EQ(spec.letters(), "sfsf");
      EXPECT_EQ(spec.epsilon, 1e-7);
      EXPECT_EQ(spec.dropout, 0.2);
      EXPECT_EQ(spec.feed_forward.activation, InnerActivation::kGelu);
      EXPECT_EQ(model.recipe().data.tokenizer, "wordpiece");
      expect_all_weights(model, held);
    }
  }
}

TEST(ModelFolder, ReadsADistilBertOfHuggingFace) {
  const TemporaryFolder folder;
  const Held held(small_bert(0));
  for (const std::string prefix : {"", "distilbert."}) {
    Theirs theirs = theirs_of(held, "transformer.layer.",
                              {"sa_layer_norm", "attention.q_lin", "attention.k_lin", "attention.v_lin",
                               "attention.out_lin", "output_layer_norm", "ffn.lin1", "ffn.lin2"},
                              false, false);
    theirs.write(folder / ("model" + prefix), their_distilbert(), prefix, DType::kF32);
    const ModelFolder model(folder / ("model" + prefix));
    EXPECT_EQ(model.recipe().model.embedding.types, 0);
    EXPECT_EQ(model.recipe().model.attention.dropout, 0.1);
    expect_all_weights(model, held);
  }
}

TEST(ModelFolder, ReadsABertOf16Bits) {
  const TemporaryFolder folder;
  const Held held(small_bert(2));
  for (const auto& [dtype, to, from] :
       {std::tuple(DType::kF16, &to_f16, &from_f16), std::tuple(DType::kBF16, &to_bf16, &from_bf16)}) {
    bert_of(held).write(folder / name_of(dtype), their_bert(), "bert.", dtype);
    const ModelFolder model(folder / name_of(dtype));
    for (const auto& [name, tensor] : held.tensors()) {
      std::vector<float> got(tensor.floats().size());
      model.read(name, {got.data(), tensor.type});
      for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], from(to(tensor.floats()[i]))) << name;
    }
  }
}

TEST(ModelFolder, BertsThatCannotBeBuiltAreRefused) {
  const TemporaryFolder folder;
  const Held held(small_bert(2));
  const auto says = [&](const std::string& key, const Json& value, const std::string& part) {
    Json config = their_bert();
    config[key] = value;
    bert_of(held).write(folder / "model", config, "", DType::kF32);
    EXPECT_SAYS(ModelFolder(folder / "model"), part);
  };
  says("hidden_act", "silu", "hidden_act is \"silu\"; heed builds BERT with gelu");
  says("position_embedding_type", "relative_key", "position_embedding_type is \"relative_key\"");
  says("is_decoder", true, "is_decoder is true; heed builds BERT with false");
  says("num_attention_heads", 5, "not a multiple of heads 5");
  says("type_vocab_size", -2, "types is -2");
  says("hidden_size", "wide", "hidden_size is \"wide\", not a whole number");
  // Weights of another size, or none.
  bert_of(held).write(folder / "model", their_bert(), "", DType::kF32);
  const ModelFolder model(folder / "model");
  std::vector<float> values(24 * 72 * 2);
  EXPECT_SAYS(model.read("blocks.0.attention.qkv.weight", {values.data(), {{48, 72}}}),
              "'encoder.layer.0.attention.self.query.weight' is F32[24, 24], the model of config.json needs "
              "f32[24, 48]");
  EXPECT_SAYS(model.read("blocks.4.norm.weight", {values.data(), {{24}}}),
              "has no tensor 'bert.encoder.layer.2.attention.output.LayerNorm.weight'");
  EXPECT_SAYS(model.read("output.bias", {values.data(), {{29}}}), "has no name in Hugging Face's BERT");
}

}  // namespace
}  // namespace heed::store
