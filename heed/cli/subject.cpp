#include "heed/cli/subject.h"

#include <algorithm>
#include <cstdio>

#include "heed/base/hash.h"
#include "heed/store/checkpoint.h"
#include "heed/store/run_folder.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

// Null if the name is not that of a folder with weights. A run's own are in "model"; before it has any, those
// of its newest checkpoint are taken.
std::unique_ptr<store::ModelFolder> open_folder(const std::string& name) {
  for (const fs::path& path : {fs::path(name), fs::path(name) / "model"}) {
    if (store::is_model_folder(path) && fs::is_regular_file(path / "model.safetensors"))
      return std::make_unique<store::ModelFolder>(path);
  }
  fs::path checkpoint = name;
  if (checkpoint.filename().empty()) checkpoint = checkpoint.parent_path();
  if (!store::is_checkpoint(checkpoint)) {
    const bool run = store::run_kind(name) == store::RunKind::kTrain;
    const bool checkpoints = store::run_kind(fs::path(name) / "..") == store::RunKind::kTrain;
    if (!run && !checkpoints) return nullptr;
    checkpoint = store::newest_checkpoint(run ? fs::path(name) / "checkpoints" : fs::path(name));
    if (checkpoint.empty()) return nullptr;
    std::fprintf(stderr, "%s: the weights of checkpoint %s are used\n", name.c_str(),
                 checkpoint.filename().c_str());
  }
  return std::make_unique<store::ModelFolder>(store::ModelFolder::of_checkpoint(checkpoint));
}

}  // namespace

Subject load_subject(const std::string& name) {
  auto model = open_folder(name);
  if (!model) {
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
  spec::Recipe recipe = model->recipe();
  recipe.name = name;
  return {std::move(recipe), std::move(model)};
}

Subject load_trained(const std::string& name) {
  if (!fs::exists(name)) {
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

model::Source source_of(const store::ModelFolder& folder) {
  return [&folder](const std::string& name, const Shape& whole, int64_t first, const Tensor& into) {
    if (into.shape() == whole) return folder.read(name, into);
    folder.read_rows(name, whole, first, into);
  };
}

void check_vocabulary(const Subject& subject, const data::Tokenizer& tokenizer) {
  const std::string &expected = subject.folder->tokenizer_hash(), found = hash_name(tokenizer.hash());
  if (!expected.empty() && found != expected)
    throw usage_error(subject.folder->path().string(), ": the tokenizer (", tokenizer.kind(), ", ",
                      tokenizer.size(), " tokens, hash ", found, ") is not the one that the model was ",
                      "trained with (", subject.recipe.model.embedding.vocabulary, " tokens, hash ", expected,
                      "); it belongs to another model: copy all three files of a model together");
  if (tokenizer.size() > subject.recipe.model.embedding.vocabulary)
    throw usage_error(subject.folder->path().string(), ": tokenizer.json has ", tokenizer.size(),
                      " tokens, the model ", subject.recipe.model.embedding.vocabulary,
                      "; it belongs to another model");
}

}  // namespace heed::cli
