// A model on disk, in the layout of Hugging Face's tools:
//
//   config.json         their keys where they can express the model; all of heed's settings under "heed", and
//                       the hash of the tokenizer
//   model.safetensors   the weights
//   tokenizer.json      the vocabulary
//
// Folders of theirs are read as well, of the families in families.h, and checkpoints of a training run.
#pragma once

#include "heed/spec/recipe.h"
#include "heed/store/families.h"
#include "heed/store/safetensors.h"

namespace heed::store {

class ModelFolder {
 public:
  // Reads config.json and the header of the weights. Throws if something is missing or does not match.
  explicit ModelFolder(const std::filesystem::path& path);
  // The weights of a checkpoint, with the settings and the tokenizer of its run.
  static ModelFolder of_checkpoint(const std::filesystem::path& checkpoint);

  const std::filesystem::path& path() const { return path_; }
  // Of the folder with config.json and tokenizer.json.
  const std::filesystem::path& tokenizer_path() const { return settings_; }
  const spec::Recipe& recipe() const { return recipe_; }
  // Of the tokenizer that the model was trained with, as `save_model_folder` got it. "" in folders of earlier
  // versions and of other programs.
  const std::string& tokenizer_hash() const { return tokenizer_hash_; }
  // Fills the weight of that name (heed's), from any floating point type in the file. Throws if the
  // shape differs.
  void read(const std::string& name, const Tensor& into) const;
  // Some rows of a matrix, from `first` on; `whole` is its shape.
  void read_rows(const std::string& name, const Shape& whole, int64_t first, const Tensor& into) const;

 private:
  ModelFolder(const std::filesystem::path& path, const std::filesystem::path& settings, spec::Recipe recipe,
              std::string tokenizer_hash, const Family* family);
  // Where a weight of that shape is in the file. Throws if it is missing or of another shape.
  ForeignWeight stored(const std::string& name, const Shape& shape) const;
  // A name of theirs as the file has it; the name itself if the file has none like it.
  std::string in_file(const std::string& name) const;

  std::filesystem::path path_, settings_;
  spec::Recipe recipe_;
  std::string tokenizer_hash_;
  const Family* family_;  // whose names the file has; null for heed's own
  Safetensors file_;
};

// Whether there is a config.json at that path.
bool is_model_folder(const std::filesystem::path& path);

// Written under a temporary name, then renamed; an existing model is replaced. `tokenizer` is the content of
// tokenizer.json, `tokenizer_hash` tells whether it is the same (hash_name of data::Tokenizer::hash). `dtype`
// is the floating point type of the weights in the file.
void save_model_folder(const std::filesystem::path& path, const spec::Recipe& recipe, const Tensors& weights,
                       const Json& tokenizer, const std::string& tokenizer_hash, DType dtype = DType::kF32);

}  // namespace heed::store
