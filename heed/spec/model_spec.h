// The description of a model that search, models, measuring and reports exchange.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/base/registry.h"
#include "heed/spec/letters.h"

namespace heed {

enum class Norm { kPre, kPost };
template <>
struct EnumNames<Norm> {
  static constexpr std::pair<Norm, const char*> names[] = {{Norm::kPre, "pre"}, {Norm::kPost, "post"}};
};

// How attention knows the position of a token: a learned vector per position, distances, or not at all.
enum class Positions { kLearned, kRelative, kNone };
template <>
struct EnumNames<Positions> {
  static constexpr std::pair<Positions, const char*> names[] = {
      {Positions::kLearned, "learned"}, {Positions::kRelative, "relative"}, {Positions::kNone, "none"}};
};

enum class InnerActivation { kRelu, kGelu, kGeluTanh };
template <>
struct EnumNames<InnerActivation> {
  static constexpr std::pair<InnerActivation, const char*> names[] = {
      {InnerActivation::kRelu, "relu"},
      {InnerActivation::kGelu, "gelu"},
      {InnerActivation::kGeluTanh, "gelu_tanh"}};
};

// Which paper's weight initialisation: model/builder.h and model/vocabulary.h.
enum class Initialisation { kGpt2, kTransformerXl, kSru, kBert };
template <>
struct EnumNames<Initialisation> {
  static constexpr std::pair<Initialisation, const char*> names[] = {
      {Initialisation::kGpt2, "gpt2"},
      {Initialisation::kTransformerXl, "transformer-xl"},
      {Initialisation::kSru, "sru++"},
      {Initialisation::kBert, "bert"}};
};

}  // namespace heed

namespace heed::spec {

// Settings of one family of blocks, of the embedding or of the head. In recipes all of them are keys of
// "model".

struct AttentionSpec {
  int64_t head_width = 0;
  bool bias = true;
  bool shared_position_bias = true;
  double dropout = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("head_width", head_width, "width of a head; 0: width / heads");
    field("attention_bias", bias, "biases in the projections of attention");
    field("shared_position_bias", shared_position_bias,
          "one pair of content and position biases for all relative attention");
    field("attention_dropout", dropout, "dropout rate of attention probabilities");
  }
};

struct FeedForwardSpec {
  InnerActivation activation = InnerActivation::kGeluTanh;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("activation", activation, "of feed-forward blocks");
  }
};

struct RecurrenceSpec {
  int64_t heads = 1;
  double highway_bias = -2;
  bool rescale = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("projection_heads", heads, "attention heads inside a recurrence");
    field("highway_bias", highway_bias, "initial bias of the recurrence's reset gate");
    field("rescale", rescale, "scales the highway of a recurrence");
  }
};

struct EmbeddingSpec {
  std::string kind = "tokens";
  int64_t vocabulary = 50257;
  int64_t context = 1024;
  int64_t types = 0;
  int64_t width = 0;
  std::vector<int64_t> cutoffs = {};
  int64_t division = 1;
  bool scale = false;
  double dropout = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("embedding", kind, "what the first block reads");
    field("vocabulary", vocabulary, "number of tokens V");
    field("context", context, "most positions a model with learned positions can see");
    field("types", types, "kinds of segments that an embedding tells apart; 0: none");
    field("embedding_width", width, "of the token table; 0: width");
    field("cutoffs", cutoffs, "where clusters of an adaptive vocabulary end, the last one left out");
    field("division", division, "each further cluster's embedding is narrower by this factor");
    field("scale_embedding", scale, "multiplies embeddings by the root of the width");
    field("embedding_dropout", dropout,
          "dropout rate between tables and their projections; no effect where there are none");
  }
};

struct HeadSpec {
  std::string kind = "next-token";
  bool tie_weights = true;
  std::vector<bool> tie_projections = {true};
  bool bias = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("head", kind, "what the last block's output is turned into");
    field("tie_weights", tie_weights, "the output uses the token table");
    field("tie_projections", tie_projections,
          "the output uses the input's projection, one for all or one per cluster");
    field("output_bias", bias, "a bias per word of the output");
  }
};

struct ModelSpec {
  std::string backbone = "gpt2";
  std::string stack = "decoder";
  std::string arch = "(sf)x12";
  int64_t mix = 0;
  int64_t width = 768;
  SizeLists sizes = usual_sizes();
  Norm norm = Norm::kPre;
  bool final_norm = true;
  double epsilon = 1e-5;
  Positions positions = Positions::kLearned;
  double dropout = 0;
  bool dropout_everywhere = false;
  Initialisation initialisation = Initialisation::kGpt2;
  double deviation = 0.02;
  AttentionSpec attention;
  FeedForwardSpec feed_forward;
  RecurrenceSpec recurrence;
  EmbeddingSpec embedding;
  HeadSpec head;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("backbone", backbone, "family that gives the defaults");
    field("stack", stack, "which tokens of its text a token sees");
    field("arch", arch, "the blocks, such as (sfff)x6 (f)x8");
    field("mix", mix, "a supernet: this many consecutive blocks are alternatives of one layer; 0: none");
    field("width", width, "model width D");
    for (const Size& size : spec::sizes())
      field(size.name, sizes[size.name], "one number, or one per block that has this size");
    field("norm", norm, "layer norm before a block (pre) or after its residual (post)");
    field("final_norm", final_norm, "one more layer norm after the last block");
    field("epsilon", epsilon, "of the layer norms");
    field("positions", positions, "learned, relative or none");
    field("dropout", dropout, "dropout rate");
    field("dropout_everywhere", dropout_everywhere,
          "also inside feed-forward, on distances and before the output");
    field("initialisation", initialisation, "which paper's weight initialisation");
    field("deviation", deviation, "standard deviation of the initial weights, where they are normal");
    attention.visit(field);
    feed_forward.visit(field);
    recurrence.visit(field);
    embedding.visit(field);
    head.visit(field);
  }

  std::string letters() const;        // arch, flat
  std::vector<Block> blocks() const;  // one per letter, with its sizes
  // Sets arch and the lists of all sizes that these blocks have; the identity if there are none.
  void set_blocks(const std::vector<Block>& blocks);
  int64_t head_width(const Block& block) const {
    return attention.head_width ? attention.head_width : width / block["heads"];
  }
  int64_t table_width() const { return embedding.width ? embedding.width : width; }
  bool adaptive() const { return !embedding.cutoffs.empty() || embedding.division > 1; }
  // Where clusters end; the last is the vocabulary, and cutoffs beyond it are dropped. Without cutoffs there
  // is one cluster.
  std::vector<int64_t> cluster_ends() const;
  int64_t cluster_width(size_t cluster) const;  // of its part of the token table
  bool projects(size_t cluster) const;          // its embeddings go through a projection
  bool ties_projection(size_t cluster) const;

 private:
  static SizeLists usual_sizes();
};

// A family: the defaults of a spec.
struct Backbone {
  std::string name;
  std::string meaning;
  ModelSpec (*settings)();
  const char* tokenizer;                 // that its models usually have, apart from bytes
  bool stores_in_out;                    // its public code stores matrices [in, out], not [out, in]
  std::vector<int64_t> baseline_layers;  // (sf)xN with these N is what LiteTransformerSearch compares with
};
const Registry<Backbone>& backbones();

// From JSON, on top of the settings of its backbone. Checked.
ModelSpec read_model_spec(const Json& json, const std::string& what);
// Throws an Error that names the first thing that cannot be built.
void validate(const ModelSpec& spec);

}  // namespace heed::spec
