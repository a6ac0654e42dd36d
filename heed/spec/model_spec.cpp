#include "heed/spec/model_spec.h"

#include <filesystem>
#include <fstream>

namespace heed::spec {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMost = 1 << 24;  // any size beyond this is a slip of the pen

void check_positive(const char* name, int64_t value) {
  if (value < 1 || value > kMost)
    throw usage_error("model: ", name, " is ", value, "; it must be from 1 to ", kMost);
}

void check_list(const char* name, const std::vector<int64_t>& list, int64_t layers) {
  if (list.size() != 1 && static_cast<int64_t>(list.size()) != layers) {
    throw usage_error("model: ", name, " has ", list.size(), " entries for ", layers,
                      " layers; give one number or one per layer");
  }
  for (int64_t value : list) check_positive(name, value);
}

std::vector<std::string> recipe_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".json") names.push_back(file.path().stem());
  }
  return names;
}

// HEED_RECIPES overrides the folder the program was built with.
fs::path recipes_folder() {
  const char* elsewhere = std::getenv("HEED_RECIPES");
  return elsewhere ? elsewhere : HEED_RECIPES_DIR;
}

}  // namespace

void validate(const ModelSpec& spec) {
  if (spec.backbone != "gpt2")
    throw usage_error("model: unknown backbone '", spec.backbone, "'; this version builds gpt2");
  check_positive("layers", spec.layers);
  check_positive("width", spec.width);
  check_positive("vocabulary", spec.vocabulary);
  check_positive("context", spec.context);
  check_list("heads", spec.heads, spec.layers);
  check_list("inner", spec.inner, spec.layers);
  for (int64_t layer = 0; layer < spec.layers; ++layer) {
    const int64_t heads = spec.heads_of(layer);
    if (spec.width % heads == 0) continue;
    const int64_t below = spec.width / heads * heads;
    throw usage_error("model: layer ", layer, ": width ", spec.width, " is not a multiple of heads ", heads,
                      "; try ", below > 0 ? text(below, " or ") : "", below + heads);
  }
  for (double rate : {spec.dropout, spec.attention_dropout}) {
    if (!(rate >= 0 && rate < 1)) throw usage_error("model: a dropout of ", rate, " is not in [0, 1)");
  }
}

ModelSpec load_model_spec(const std::string& name_or_path) {
  fs::path path = name_or_path;
  if (!fs::is_regular_file(path)) path = recipes_folder() / (name_or_path + ".json");
  std::ifstream file(path);
  if (!file) {
    const std::string guess = nearest(name_or_path, recipe_names(recipes_folder()));
    throw usage_error("'", name_or_path, "' is neither a file nor a recipe",
                      guess.empty() ? "" : "; did you mean '" + guess + "'?");
  }
  Json json;
  try {
    json = Json::parse(file);
  } catch (const Json::exception& error) {
    throw usage_error(path.string(), ": not JSON: ", error.what());
  }
  ModelSpec spec = from_json<ModelSpec>(json, path.string());
  validate(spec);
  return spec;
}

}  // namespace heed::spec
