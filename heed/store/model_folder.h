// A model on disk, in the shape that Hugging Face's tools know:
//
//   config.json         their keys where theirs can express the model; everything of heed's under "heed"
//   model.safetensors   the weights
//   tokenizer.json      the vocabulary
//
// A GPT-2 folder of theirs is read as well.
#pragma once

#include "heed/spec/recipe.h"
#include "heed/store/safetensors.h"

namespace heed::store {

class ModelFolder {
 public:
  // Reads config.json and the header of the weights; what is missing or does not fit is an Error.
  explicit ModelFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const spec::Recipe& recipe() const { return recipe_; }
  // Fills the weight of that name (heed's). Another shape is an Error that says both.
  void read(const std::string& name, const Tensor& into) const;

 private:
  std::filesystem::path path_;
  spec::Recipe recipe_;
  bool gpt2_names_;
  Safetensors file_;
};

// Whether there is a config.json at that path.
bool is_model_folder(const std::filesystem::path& path);

// Written beside, then put in place as a whole; a model that was there before is replaced.
void save_model_folder(const std::filesystem::path& path, const spec::Recipe& recipe, const Tensors& weights,
                       const Json& tokenizer);

}  // namespace heed::store
