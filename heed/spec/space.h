// A space of models: settings that all of them share, and what may vary. One TOML file each in spaces/.
//
// A model has one width, one vocabulary, one embedding, and a number of layers. A layer is a string of
// letters with its own heads and inner widths.
#pragma once

#include <string>
#include <vector>

#include "heed/spec/recipe.h"

namespace heed::spec {

// One layer. What its letters have no use for is 0.
struct Layer {
  int64_t kind = 0;  // place in Space::layer
  int64_t heads = 0, inner = 0, projection = 0;
  auto operator<=>(const Layer&) const = default;
};

// What the layers of a model stand between.
struct Frame {
  int64_t width = 0, embedding_width = 0, division = 0, vocabulary = 0;
  auto operator<=>(const Frame&) const = default;
};

struct Candidate {
  Frame frame;
  std::vector<Layer> layers;
  auto operator<=>(const Candidate&) const = default;
};

struct Space {
  std::string name;  // of the file
  std::string about;
  std::vector<std::string> published;
  Json source;           // everything the file says
  int64_t length = 192;  // tokens of the segment that is timed
  ModelSpec model;       // what all models share
  DataSpec data;         // these go into the recipes of what is found
  TrainingSpec training;
  EvaluationSpec evaluation;

  // Values that may be chosen. embedding_width 0 is the width of the model.
  std::vector<std::string> layer = {"sf"};
  std::vector<int64_t> layers, width, heads, inner, projection, embedding_width, division, vocabulary;
  double inner_over_width = 0;  // an inner width is at least floor(this * width)
  // Parameters: without embedding and output, and all of them. 0 as the most in a file: no limit.
  int64_t least_decoder = 0, most_decoder = INT64_MAX;
  int64_t least_total = 0, most_total = INT64_MAX;

  bool allows_inner(int64_t width_of_model, int64_t value) const;
  bool allows_size(int64_t decoder, int64_t total) const {
    return decoder >= least_decoder && decoder <= most_decoder && total >= least_total && total <= most_total;
  }
  // Whether a layer of the space's values is one of options(width).
  bool allows(int64_t width_of_model, const Layer& candidate) const;
  std::vector<Frame> frames() const;
  // Every layer that a model of this width may have; empty if there is none.
  std::vector<Layer> options(int64_t width_of_model) const;
  // The decimal logarithm of how many models there are, limits on parameters aside.
  double log10_size() const;
  // Without layers it is the identity between embedding and output.
  ModelSpec model_of(const Candidate& candidate) const;
  // The model with what it takes to train it.
  Recipe recipe_of(const Candidate& candidate) const;
  // A short name that only equal candidates share: "256/128/4/267735 sf8:1024 sf4:512".
  std::string key_of(const Candidate& candidate) const;
  // The candidate of such a name. An Error if it is none of this space's kinds of layers.
  Candidate candidate_of(const std::string& key) const;
};

Space read_space(const Json& json, const std::string& what);
// From a file, or by name from the folder of spaces. HEED_SPACES overrides the folder.
Space load_space(const std::string& name_or_path);
std::vector<std::string> space_names();

}  // namespace heed::spec
