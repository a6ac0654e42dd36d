// BERT and DistilBERT in Hugging Face's naming. Both are only read.
#include "heed/store/families.h"
#include "heed/store/foreign_config.h"

namespace heed::store {
namespace {

constexpr std::pair<const char*, InnerActivation> kActivations[] = {
    {"gelu", InnerActivation::kGelu},
    {"gelu_new", InnerActivation::kGeluTanh},
    {"gelu_pytorch_tanh", InnerActivation::kGeluTanh},
    {"relu", InnerActivation::kRelu}};

// Where the names of a family begin, outside blocks, in blocks of attention and in feed-forward blocks. Pair
// p has its attention at block 2p and its feed-forward at block 2p + 1.
struct Names {
  const char* family;
  const char* layers;
  std::vector<Renaming> outside, attention, feed_forward;
};

const std::vector<Renaming>& embeddings() {
  static const std::vector<Renaming> list = {
      {"embedding.table", {"embeddings.word_embeddings.weight"}},
      {"embedding.positions", {"embeddings.position_embeddings.weight"}},
      {"embedding.types", {"embeddings.token_type_embeddings.weight"}},
      {"embedding.norm.", {"embeddings.LayerNorm."}}};
  return list;
}

const Names& bert_names() {
  static const Names names = {
      "BERT",
      "encoder.layer.",
      embeddings(),
      {{"norm.", {"attention.output.LayerNorm."}},
       {"attention.qkv.", {"attention.self.query.", "attention.self.key.", "attention.self.value."}},
       {"attention.out.", {"attention.output.dense."}}},
      {{"norm.", {"output.LayerNorm."}},
       {"feed_forward.in.", {"intermediate.dense."}},
       {"feed_forward.out.", {"output.dense."}}}};
  return names;
}

const Names& distilbert_names() {
  static const Names names = {
      "DistilBERT",
      "transformer.layer.",
      embeddings(),
      {{"norm.", {"sa_layer_norm."}},
       {"attention.qkv.", {"attention.q_lin.", "attention.k_lin.", "attention.v_lin."}},
       {"attention.out.", {"attention.out_lin."}}},
      {{"norm.", {"output_layer_norm."}},
       {"feed_forward.in.", {"ffn.lin1."}},
       {"feed_forward.out.", {"ffn.lin2."}}}};
  return names;
}

// Tables of embeddings are stored as heed does, products transposed.
ForeignWeight weight(const Names& names, const std::string& name) {
  const auto [block, rest] = split_name(name);
  if (block < 0) return {renamed(names.outside, rest, "", names.family), false};
  const std::vector<Renaming>& inside = block % 2 == 0 ? names.attention : names.feed_forward;
  return {renamed(inside, rest, text(names.layers, block / 2, "."), names.family), true};
}

spec::ModelSpec usual() { return spec::backbones().find("bert").settings(); }

spec::ModelSpec read_bert_config(const Json& json, const std::string& what) {
  const ForeignConfig config(json, what, "BERT");
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  spec::ModelSpec spec = usual();
  spec.feed_forward.activation = config.one_of("hidden_act", kActivations);
  spec.width = config.whole_number("hidden_size", 768);
  spec.arch = text("(sf)x", config.whole_number("num_hidden_layers", 12));
  spec.sizes["heads"] = {config.whole_number("num_attention_heads", 12)};
  spec.sizes["inner"] = {config.whole_number("intermediate_size", 3072)};
  spec.embedding.context = config.whole_number("max_position_embeddings", 512);
  spec.embedding.types = config.whole_number("type_vocab_size", 2);
  spec.embedding.vocabulary = config.whole_number("vocab_size", 30522);
  spec.epsilon = config.number("layer_norm_eps", 1e-12);
  spec.deviation = config.number("initializer_range", 0.02);
  spec.dropout = config.number("hidden_dropout_prob", 0.1);
  spec.attention.dropout = config.number("attention_probs_dropout_prob", 0.1);
  return config.checked(spec);
}

// No types. Sinusoidal positions are in the file like learned ones.
spec::ModelSpec read_distilbert_config(const Json& json, const std::string& what) {
  const ForeignConfig config(json, what, "DistilBERT");
  spec::ModelSpec spec = usual();
  spec.embedding.types = 0;
  spec.feed_forward.activation = config.one_of("activation", kActivations);
  spec.width = config.whole_number("dim", 768);
  spec.arch = text("(sf)x", config.whole_number("n_layers", 6));
  spec.sizes["heads"] = {config.whole_number("n_heads", 12)};
  spec.sizes["inner"] = {config.whole_number("hidden_dim", 3072)};
  spec.embedding.context = config.whole_number("max_position_embeddings", 512);
  spec.embedding.vocabulary = config.whole_number("vocab_size", 30522);
  spec.deviation = config.number("initializer_range", 0.02);
  spec.dropout = config.number("dropout", 0.1);
  spec.attention.dropout = config.number("attention_dropout", 0.1);
  return config.checked(spec);
}

}  // namespace

Family bert_family() {
  return {"bert",
          "bert.",
          "wordpiece",
          read_bert_config,
          [](const std::string& name) { return weight(bert_names(), name); },
          nullptr,
          nullptr};
}

Family distilbert_family() {
  return {"distilbert",
          "distilbert.",
          "wordpiece",
          read_distilbert_config,
          [](const std::string& name) { return weight(distilbert_names(), name); },
          nullptr,
          nullptr};
}

}  // namespace heed::store
