// Models on disk: heed's own, and GPT-2 as Hugging Face has it.
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
  EXPECT_SAYS(ModelFolder{path}, "heed reads its own models and Hugging Face's gpt2");
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

}  // namespace
}  // namespace heed::store
