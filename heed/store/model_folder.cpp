#include "heed/store/model_folder.h"

#include "heed/store/json_file.h"
#include "heed/store/unfinished.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

// Beside "heed", whose keys are those of recipes.
constexpr const char* kTokenizerHash = "heed_tokenizer_hash";

// The family that can express the model; null if there is none.
const Family* family_of(const spec::ModelSpec& spec) {
  for (const Family& family : families()) {
    if (family.expresses && family.expresses(spec)) return &family;
  }
  return nullptr;
}

// Of a folder of theirs; null for heed's own.
const Family* foreign_family(const Json& config, const std::string& what) {
  if (config.contains("heed")) return nullptr;
  const Json type = config.value("model_type", Json());
  for (const Family& family : families()) {
    if (type == family.name) return &family;
  }
  throw usage_error(what, ": model_type is ", type.dump(), "; heed reads its own models and Hugging Face's ",
                    families().names());
}

spec::Recipe read_recipe(const fs::path& file) {
  const Json config = read_json_object(file);
  const std::string what = file.string();
  const Family* family = foreign_family(config, what);
  if (!family) return spec::read_recipe(config.at("heed"), what);
  spec::Recipe recipe;
  recipe.model = family->read_config(config, what);
  recipe.data.tokenizer = family->tokenizer;
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
                         std::string tokenizer_hash, const Family* family)
    : path_(path),
      settings_(settings),
      recipe_(std::move(recipe)),
      tokenizer_hash_(std::move(tokenizer_hash)),
      family_(family),
      file_(path / "model.safetensors") {
  recipe_.name = path.filename().empty() ? path.parent_path().filename() : path.filename();
}

ModelFolder::ModelFolder(const fs::path& path)
    : ModelFolder(path, path, read_recipe(path / "config.json"), read_tokenizer_hash(path / "config.json"),
                  nullptr) {
  const fs::path config = path / "config.json";
  family_ = foreign_family(read_json_object(config), config.string());
  if (!family_) family_ = family_of(recipe_.model);
}

ModelFolder ModelFolder::of_checkpoint(const fs::path& checkpoint) {
  const fs::path run = fs::absolute(checkpoint).parent_path().parent_path(), config = run / "config.json";
  const Json text = read_json_object(run / "run.json").value("data", Json::object());
  return ModelFolder(checkpoint, run, spec::read_recipe(read_json_object(config), config.string()),
                     text.value(kTokenizerHash, ""), nullptr);
}

void ModelFolder::read(const std::string& name, const Tensor& into) const {
  const Shape& shape = into.shape();
  if (shape.rank() == 2) return read_rows(name, shape, 0, into);
  const ForeignWeight weight = stored(name, shape);
  const size_t part = into.floats().size() / weight.tensors.size();
  for (size_t i = 0; i < weight.tensors.size(); ++i)
    file_.read_f32(weight.tensors[i], into.floats().subspan(i * part, part));
}

void ModelFolder::read_rows(const std::string& name, const Shape& whole, int64_t first,
                            const Tensor& into) const {
  const ForeignWeight weight = stored(name, whole);
  if (!weight.turned) return file_.read_rows(weight.tensors[0], first, into.floats());
  const int64_t part = whole.dim(1) / std::ssize(weight.tensors);
  float* to = into.f32();
  for (const std::string& tensor : weight.tensors) {
    file_.read_columns(tensor, first, into.shape().dim(0), to, whole.dim(1));
    to += part;
  }
}

std::string ModelFolder::in_file(const std::string& name) const {
  // With and without the prefix: both occur in Hugging Face's folders, and so do the names that norms had in
  // TensorFlow.
  std::string older = name;
  for (const auto& [now, then] :
       {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
    if (name.ends_with(now))
      older.replace(name.size() - std::string_view(now).size(), std::string::npos, then);
  }
  for (const std::string& candidate : {name, family_->prefix + name, older, family_->prefix + older}) {
    if (file_.contains(candidate)) return candidate;
  }
  return family_->prefix + name;
}

ForeignWeight ModelFolder::stored(const std::string& name, const Shape& shape) const {
  ForeignWeight weight{{name}};
  if (family_) {
    weight = family_->weight(name);
    for (std::string& tensor : weight.tensors) tensor = in_file(tensor);
  }
  // Of each tensor.
  Shape expected = shape;
  const int last = shape.rank() - 1;
  const int64_t parts = std::ssize(weight.tensors);
  if (parts > 1)
    expected = last == 0 ? Shape{shape.dim(0) / parts} : Shape{shape.dim(0), shape.dim(1) / parts};
  if (weight.turned && last == 1) expected = Shape{expected.dim(1), expected.dim(0)};
  const std::string where = (path_ / "model.safetensors").string();
  for (const std::string& tensor : weight.tensors) {
    if (!file_.contains(tensor))
      throw usage_error(where, ": has no tensor '", tensor,
                        "'; the weights are of another architecture than config.json");
    const StoredTensor& info = file_.info(tensor);
    bool fits = static_cast<int>(info.shape.size()) == expected.rank();
    for (int i = 0; fits && i < expected.rank(); ++i)
      fits = info.shape[static_cast<size_t>(i)] == expected.dim(i);
    if (!fits)
      throw usage_error(where, ": '", tensor, "' is ", info.str(), ", the model of config.json needs ",
                        TensorType{expected}.str());
  }
  return weight;
}

void save_model_folder(const fs::path& path, const spec::Recipe& recipe, const Tensors& weights,
                       const Json& tokenizer, const std::string& tokenizer_hash, DType dtype) {
  const Family* family = family_of(recipe.model);
  Json config = family ? family->config(recipe.model, dtype) : Json{{"model_type", "heed"}};
  config["heed"] = to_json(recipe);
  config[kTokenizerHash] = tokenizer_hash;
  Tensors named;
  // Families that are written keep every weight as one tensor of the same layout.
  for (const auto& [name, tensor] : weights)
    named[family ? family->prefix + family->weight(name).tensors[0] : name] = tensor;
  Unfinished folder(path);
  write_json_object(folder.path() / "config.json", config);
  write_json_object(folder.path() / "tokenizer.json", tokenizer);
  write_safetensors(folder.path() / "model.safetensors", named, {{"format", "pt"}}, dtype);
  folder.finish();
}

}  // namespace heed::store
