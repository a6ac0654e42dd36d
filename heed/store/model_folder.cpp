#include "heed/store/model_folder.h"

#include "heed/store/gpt2_names.h"
#include "heed/store/json_file.h"
#include "heed/store/unfinished.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

// Beside "heed", whose keys are those of recipes.
constexpr const char* kTokenizerHash = "heed_tokenizer_hash";

spec::Recipe read_recipe(const fs::path& file) {
  const Json config = read_json_object(file);
  const std::string what = file.string();
  if (config.contains("heed")) return spec::read_recipe(config.at("heed"), what);
  const Json type = config.value("model_type", Json());
  if (type != "gpt2")
    throw usage_error(what, ": model_type is ", type.dump(),
                      "; heed reads its own models and Hugging Face's gpt2");
  spec::Recipe recipe;
  recipe.model = read_gpt2_config(config, what);
  recipe.data.tokenizer = "bpe";
  recipe.evaluation.length = recipe.model.embedding.context;
  return recipe;
}

std::string read_tokenizer_hash(const fs::path& file) {
  const Json hash = read_json_object(file).value(kTokenizerHash, Json(""));
  if (!hash.is_string())
    throw damaged_error(file.string(), ": ", kTokenizerHash, " is ", hash.dump(), " and not a string");
  return hash;
}

}  // namespace

bool is_model_folder(const fs::path& path) { return fs::is_regular_file(path / "config.json"); }

ModelFolder::ModelFolder(const fs::path& path, const fs::path& settings, spec::Recipe recipe,
                         std::string tokenizer_hash, bool gpt2_names)
    : path_(path),
      settings_(settings),
      recipe_(std::move(recipe)),
      tokenizer_hash_(std::move(tokenizer_hash)),
      gpt2_names_(gpt2_names),
      file_(path / "model.safetensors") {
  recipe_.name = path.filename().empty() ? path.parent_path().filename() : path.filename();
}

ModelFolder::ModelFolder(const fs::path& path)
    : ModelFolder(path, path, read_recipe(path / "config.json"), read_tokenizer_hash(path / "config.json"),
                  false) {
  gpt2_names_ = is_plain_gpt2(recipe_.model);
}

ModelFolder ModelFolder::of_checkpoint(const fs::path& checkpoint) {
  const fs::path run = fs::absolute(checkpoint).parent_path().parent_path(), config = run / "config.json";
  const Json text = read_json_object(run / "run.json").value("data", Json::object());
  return ModelFolder(checkpoint, run, spec::read_recipe(read_json_object(config), config.string()),
                     text.value(kTokenizerHash, ""), false);
}

void ModelFolder::read(const std::string& name, const Tensor& into) const {
  file_.read_f32(stored(name, into.shape()), into.floats());
}

void ModelFolder::read_rows(const std::string& name, const Shape& whole, int64_t first,
                            const Tensor& into) const {
  file_.read_rows(stored(name, whole), first, into.floats());
}

std::string ModelFolder::stored(const std::string& name, const Shape& shape) const {
  std::string stored = name;
  if (gpt2_names_) {
    // With and without the prefix: both occur in Hugging Face's folders.
    stored = gpt2_name(name);
    if (!file_.contains(stored)) stored = "transformer." + stored;
  }
  const std::string where = (path_ / "model.safetensors").string();
  if (!file_.contains(stored))
    throw usage_error(where, ": has no tensor '", stored,
                      "'; the weights are of another architecture than config.json");
  const StoredTensor& info = file_.info(stored);
  bool fits = static_cast<int>(info.shape.size()) == shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = info.shape[static_cast<size_t>(i)] == shape.dim(i);
  if (!fits)
    throw usage_error(where, ": '", stored, "' is ", info.str(), ", the model of config.json needs ",
                      TensorType{shape}.str());
  return stored;
}

void save_model_folder(const fs::path& path, const spec::Recipe& recipe, const Tensors& weights,
                       const Json& tokenizer, const std::string& tokenizer_hash, DType dtype) {
  const bool gpt2 = is_plain_gpt2(recipe.model);
  Json config = gpt2 ? gpt2_config(recipe.model, dtype) : Json{{"model_type", "heed"}};
  config["heed"] = to_json(recipe);
  config[kTokenizerHash] = tokenizer_hash;
  Tensors named;
  for (const auto& [name, tensor] : weights) named[gpt2 ? "transformer." + gpt2_name(name) : name] = tensor;
  Unfinished folder(path);
  write_json_object(folder.path() / "config.json", config);
  write_json_object(folder.path() / "tokenizer.json", tokenizer);
  write_safetensors(folder.path() / "model.safetensors", named, {{"format", "pt"}}, dtype);
  folder.finish();
}

}  // namespace heed::store
