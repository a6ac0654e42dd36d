// What a model is: a plain description that search, models, measuring and reports hand each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/fields.h"

namespace heed::spec {

struct ModelSpec {
  std::string backbone = "gpt2";
  int64_t layers = 12;
  int64_t width = 768;
  std::vector<int64_t> heads = {12};
  std::vector<int64_t> inner = {3072};
  int64_t vocabulary = 50257;
  int64_t context = 1024;
  double dropout = 0;
  double attention_dropout = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("backbone", backbone, "family of the model");
    field("layers", layers, "attention and feed-forward pairs L");
    field("width", width, "model width D");
    field("heads", heads, "attention heads, one number or one per layer");
    field("inner", inner, "inner width F of the feed-forward blocks, one number or one per layer");
    field("vocabulary", vocabulary, "number of tokens V");
    field("context", context, "most positions the model can see");
    field("dropout", dropout, "share of activations dropped in training");
    field("attention_dropout", attention_dropout, "share of attention probabilities dropped in training");
  }

  int64_t heads_of(int64_t layer) const {
    return heads.size() == 1 ? heads[0] : heads[static_cast<size_t>(layer)];
  }
  int64_t inner_of(int64_t layer) const {
    return inner.size() == 1 ? inner[0] : inner[static_cast<size_t>(layer)];
  }
};

// Throws an Error that names the first thing that cannot be built.
void validate(const ModelSpec& spec);

// From a file, or by name from the folder of recipes ("gpt2-124m"). Checked.
ModelSpec load_model_spec(const std::string& name_or_path);

}  // namespace heed::spec
