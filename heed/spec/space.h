// A space of models: settings that all of them share, and what may vary. One TOML file each in spaces/.
//
// A model has one width, one vocabulary, one embedding, and a number of layers. A layer is a string of
// letters with its own sizes (letters.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/spec/recipe.h"

namespace heed::spec {

// One layer. Sizes that none of its letters has are 0; letters that share a size have the same value of it.
struct Layer {
  int64_t kind = 0;  // index in Space::layer
  SizeValues sizes;
  auto operator<=>(const Layer&) const = default;
};

// The settings around the layers of a model.
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
  std::string law;       // of worth, that ranks its models if no other is given; "" for none
  ModelSpec model;       // what all models share
  DataSpec data;         // copied into the recipes of the models found
  TrainingSpec training;
  EvaluationSpec evaluation;

  // Values that may be chosen. embedding_width 0 is the width of the model.
  std::vector<std::string> layer = {"sf"};
  std::vector<int64_t> layers, width, embedding_width, division, vocabulary;
  SizeLists sizes;
  BySize<double> over_width;  // a size is at least floor(this * width)
  // Parameters: without embedding and output, and in total. A maximum of 0 in a file means no limit.
  int64_t least_decoder = 0, most_decoder = INT64_MAX;
  int64_t least_total = 0, most_total = INT64_MAX;

  bool allows(int64_t width_of_model, const Size& size, int64_t value) const;
  bool allows_size(int64_t decoder, int64_t total) const {
    return decoder >= least_decoder && decoder <= most_decoder && total >= least_total && total <= most_total;
  }
  // Whether a layer of the space's values is one of options(width).
  bool allows(int64_t width_of_model, const Layer& candidate) const;
  std::vector<Frame> frames() const;
  // Whether a layer of this kind has a block with the size.
  bool has(int64_t kind, const Size& size) const;
  // The blocks of a layer.
  std::vector<Block> blocks_of(const Layer& candidate) const;
  // Every layer that a model of this width may have; empty if there is none.
  std::vector<Layer> options(int64_t width_of_model) const;
  // log10 of the number of models, ignoring limits on parameters.
  double log10_size() const;
  // Without layers it is the identity between embedding and output.
  ModelSpec model_of(const Candidate& candidate) const;
  // The model with its data, training and evaluation.
  Recipe recipe_of(const Candidate& candidate) const;
  // A short name that only equal candidates share: "256/128/4/267735 sf8:1024 sf4:512".
  std::string key_of(const Candidate& candidate) const;
  // The candidate of such a name. Throws if it has a kind of layer that is not in this space.
  Candidate candidate_of(const std::string& key) const;
};

Space read_space(const Json& json, const std::string& what);
// The folder of spaces and their laws. HEED_SPACES overrides it.
std::filesystem::path spaces_folder();
// From a file, or by name from the folder of spaces. `genes` replaces values of its [genes], in TOML:
// "vocabulary = 256, width = [128, 256]".
Space load_space(const std::string& name_or_path, const std::string& genes = "");
std::vector<std::string> space_names();

}  // namespace heed::spec
