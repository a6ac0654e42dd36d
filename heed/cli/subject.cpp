#include "heed/cli/subject.h"

#include <algorithm>

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

// Only a model's own folder has weights; a run has them in "model".
fs::path folder_of(const std::string& name) {
  for (const fs::path& path : {fs::path(name), fs::path(name) / "model"}) {
    if (store::is_model_folder(path) && fs::is_regular_file(path / "model.safetensors")) return path;
  }
  return {};
}

}  // namespace

Subject load_subject(const std::string& name) {
  const fs::path folder = folder_of(name);
  if (folder.empty()) {
    if (const fs::path file = name; file.extension() == ".safetensors" && fs::is_regular_file(file))
      throw usage_error("'", name, "' holds weights only; give the folder of the model, '",
                        file.has_parent_path() ? file.parent_path().string() : ".",
                        "', which needs config.json and tokenizer.json too");
    if (fs::is_directory(name))
      throw usage_error("'", name, "' is a folder without a model: no config.json beside a model.safetensors",
                        fs::exists(fs::path(name) / "metrics.jsonl")
                            ? "; the run has not saved one yet, let `heed train` continue"
                            : "");
    return {spec::load_recipe(name), nullptr};
  }
  auto model = std::make_unique<store::ModelFolder>(folder);
  spec::Recipe recipe = model->recipe();
  recipe.name = name;
  return {std::move(recipe), std::move(model)};
}

Subject load_trained(const std::string& name) {
  if (!fs::exists(name) && folder_of(name).empty()) {
    const std::vector<std::string> recipes = spec::recipe_names();
    if (std::find(recipes.begin(), recipes.end(), name) == recipes.end())
      throw usage_error("'", name,
                        "' does not exist; give the folder of a run (heed train -o FOLDER) or of a model: "
                        "config.json, model.safetensors and tokenizer.json");
  }
  Subject subject = load_subject(name);
  if (!subject.folder)
    throw usage_error("'", name, "' is a recipe without weights; train it first: heed train ", name,
                      " --data TEXT -o RUN");
  return subject;
}

void check_vocabulary(const Subject& subject, const data::Tokenizer& tokenizer) {
  if (tokenizer.size() > subject.recipe.model.embedding.vocabulary)
    throw usage_error(subject.folder->path().string(), ": tokenizer.json has ", tokenizer.size(),
                      " tokens, the model ", subject.recipe.model.embedding.vocabulary,
                      "; it belongs to another model");
}

}  // namespace heed::cli
