// What a model is: a plain description that search, models, measuring and reports hand each other.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/base/registry.h"

namespace heed {

enum class Norm { kPre, kPost };
template <>
struct EnumNames<Norm> {
  static constexpr std::pair<Norm, const char*> names[] = {{Norm::kPre, "pre"}, {Norm::kPost, "post"}};
};

// What tells attention where a token stands: a learned vector per position, distances, or nothing.
enum class Positions { kLearned, kRelative, kNone };
template <>
struct EnumNames<Positions> {
  static constexpr std::pair<Positions, const char*> names[] = {
      {Positions::kLearned, "learned"}, {Positions::kRelative, "relative"}, {Positions::kNone, "none"}};
};

enum class InnerActivation { kRelu, kGeluTanh };
template <>
struct EnumNames<InnerActivation> {
  static constexpr std::pair<InnerActivation, const char*> names[] = {
      {InnerActivation::kRelu, "relu"}, {InnerActivation::kGeluTanh, "gelu_tanh"}};
};

// Whose first weights: model/builder.h and model/ends.h.
enum class Initialisation { kGpt2, kTransformerXl, kSru };
template <>
struct EnumNames<Initialisation> {
  static constexpr std::pair<Initialisation, const char*> names[] = {
      {Initialisation::kGpt2, "gpt2"},
      {Initialisation::kTransformerXl, "transformer-xl"},
      {Initialisation::kSru, "sru++"}};
};

}  // namespace heed

namespace heed::spec {

struct ModelSpec {
  std::string backbone = "gpt2";
  std::string arch = "(sf)x12";
  int64_t mix = 0;
  int64_t width = 768;
  std::vector<int64_t> heads = {12};
  int64_t head_width = 0;
  std::vector<int64_t> inner = {3072};
  std::vector<int64_t> projection = {192};
  int64_t projection_heads = 1;
  Norm norm = Norm::kPre;
  bool final_norm = true;
  double epsilon = 1e-5;
  InnerActivation activation = InnerActivation::kGeluTanh;
  Positions positions = Positions::kLearned;
  bool attention_bias = true;
  bool shared_position_bias = true;
  int64_t vocabulary = 50257;
  int64_t context = 1024;
  int64_t embedding_width = 0;
  std::vector<int64_t> cutoffs = {};
  int64_t division = 1;
  bool scale_embedding = false;
  bool tie_weights = true;
  std::vector<bool> tie_projections = {true};
  bool output_bias = false;
  double highway_bias = -2;
  bool rescale = false;
  double dropout = 0;
  bool dropout_everywhere = false;
  double attention_dropout = 0;
  double embedding_dropout = 0;
  Initialisation initialisation = Initialisation::kGpt2;
  double deviation = 0.02;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("backbone", backbone, "family whose settings hold where none are given");
    field("arch", arch, "the blocks, such as (sfff)x6 (f)x8");
    field("mix", mix, "a supernet: so many blocks in a row are alternatives of one layer; 0: none");
    field("width", width, "model width D");
    field("heads", heads, "attention heads, one number or one per s block");
    field("head_width", head_width, "columns of a head; 0: width / heads");
    field("inner", inner, "inner width F of feed-forward, one number or one per f block");
    field("projection", projection, "inner width of recurrence, one number or one per r and a block");
    field("projection_heads", projection_heads, "attention heads inside a recurrence");
    field("norm", norm, "layer norm before a block (pre) or after its residual (post)");
    field("final_norm", final_norm, "one more layer norm after the last block");
    field("epsilon", epsilon, "of the layer norms");
    field("activation", activation, "of feed-forward blocks");
    field("positions", positions, "learned, relative or none");
    field("attention_bias", attention_bias, "biases in the maps of attention");
    field("shared_position_bias", shared_position_bias,
          "one pair of content and position biases for all relative attention");
    field("vocabulary", vocabulary, "number of tokens V");
    field("context", context, "most positions a model with learned positions can see");
    field("embedding_width", embedding_width, "of the token table; 0: width");
    field("cutoffs", cutoffs, "where clusters of an adaptive vocabulary end, the last one left out");
    field("division", division, "each further cluster's embedding is narrower by this factor");
    field("scale_embedding", scale_embedding, "multiplies embeddings by the root of the width");
    field("tie_weights", tie_weights, "the output uses the token table");
    field("tie_projections", tie_projections,
          "the output uses the input's projection, one for all or one per cluster");
    field("output_bias", output_bias, "a bias per word of the output");
    field("highway_bias", highway_bias, "the recurrence's reset gate starts with it");
    field("rescale", rescale, "scales the highway of a recurrence");
    field("dropout", dropout, "share of activations dropped in training");
    field("dropout_everywhere", dropout_everywhere,
          "also inside feed-forward, on distances and before the output");
    field("attention_dropout", attention_dropout, "share of attention probabilities dropped in training");
    field("embedding_dropout", embedding_dropout,
          "share dropped between tables and their projections in training; nothing where there are none");
    field("initialisation", initialisation, "whose first weights");
    field("deviation", deviation, "standard deviation of the first weights, where they are normal");
  }

  std::string letters() const;                 // arch, flat
  int64_t heads_of(int64_t block) const;       // of the s block at this place in letters()
  int64_t head_width_of(int64_t block) const;  // of the same
  int64_t inner_of(int64_t block) const;       // of the f block there
  int64_t projection_of(int64_t block) const;  // of the r or a block there
  int64_t table_width() const { return embedding_width ? embedding_width : width; }
  bool adaptive() const { return !cutoffs.empty() || division > 1; }
  // Where clusters end, the last being the vocabulary; those that lie beyond it are dropped. One cluster
  // without cutoffs.
  std::vector<int64_t> cluster_ends() const;
  int64_t cluster_width(size_t cluster) const;  // of its part of the token table
  bool projects(size_t cluster) const;          // its embeddings go through a projection
  bool ties_projection(size_t cluster) const;
};

// A family: settings that hold where a spec gives none.
struct Backbone {
  std::string name;
  std::string meaning;
  ModelSpec (*settings)();
};
const Registry<Backbone>& backbones();

// From JSON, on top of the settings of its backbone. Checked.
ModelSpec read_model_spec(const Json& json, const std::string& what);
// Throws an Error that names the first thing that cannot be built.
void validate(const ModelSpec& spec);

}  // namespace heed::spec
