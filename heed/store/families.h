// Families of models in Hugging Face's layout: names of weights and keys of config.json. A new family is its
// file and one line in families.cpp.
#pragma once

#include <string>
#include <vector>

#include "heed/base/registry.h"
#include "heed/spec/model_spec.h"
#include "heed/tensor/dtype.h"

namespace heed::store {

// A weight of heed's in a file of theirs.
struct ForeignWeight {
  // One tensor, or several side by side: their columns are those of the weight, one after the other.
  std::vector<std::string> tensors;
  bool turned = false;  // matrices are [out, in], heed's are [in, out]
};

struct Family {
  std::string name;    // the model_type of config.json
  const char* prefix;  // of all names in some of their folders
  const char* tokenizer;
  // Throws for settings that heed cannot build. `what` starts every message.
  spec::ModelSpec (*read_config)(const Json& config, const std::string& what);
  // By heed's name. Throws for a weight that the family does not have.
  ForeignWeight (*weight)(const std::string& name);
  // Whether the family can express the model, which is then written in this layout, and the config.json of
  // such a model whose weights are stored as floats of that type; null for families that are only read.
  bool (*expresses)(const spec::ModelSpec& spec);
  Json (*config)(const spec::ModelSpec& spec, DType dtype);
};
const Registry<Family>& families();

Family bert_family();
Family distilbert_family();
Family gpt2_family();

// A part of a name and what it is called there.
struct Renaming {
  const char* ours;
  std::vector<const char*> theirs;
};
// Their names of a weight whose name begins with one of the list, `before` put before each; throws if there
// is none, and calls the family by `family`.
std::vector<std::string> renamed(const std::vector<Renaming>& list, const std::string& name,
                                 const std::string& before, const char* family);
// "blocks.5.norm.weight" -> 5 and "norm.weight"; -1 and the whole name outside blocks.
struct WeightName {
  int64_t block;
  std::string inside;
};
WeightName split_name(const std::string& name);

}  // namespace heed::store
