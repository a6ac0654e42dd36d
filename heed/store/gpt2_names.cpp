#include "heed/store/gpt2_names.h"

#include <utility>

#include "heed/spec/design.h"
#include "heed/store/families.h"
#include "heed/store/foreign_config.h"

namespace heed::store {
namespace {

const std::vector<Renaming>& outside() {
  static const std::vector<Renaming> list = {
      {"embedding.table", {"wte.weight"}}, {"embedding.positions", {"wpe.weight"}}, {"norm.", {"ln_f."}}};
  return list;
}

// Pair p has its attention at block 2p and its feed-forward at block 2p + 1.
const std::vector<Renaming>& inside(bool attention) {
  static const std::vector<Renaming> first = {{"norm.", {"ln_1."}},
                                              {"attention.qkv.", {"attn.c_attn."}},
                                              {"attention.out.", {"attn.c_proj."}}},
                                     second = {{"norm.", {"ln_2."}},
                                               {"feed_forward.in.", {"mlp.c_fc."}},
                                               {"feed_forward.out.", {"mlp.c_proj."}}};
  return attention ? first : second;
}

}  // namespace

bool is_plain_gpt2(const spec::ModelSpec& spec) {
  const std::string letters = spec.letters();
  const bool pairs =
      letters.size() % 2 == 0 && letters == spec::interleaved(static_cast<int64_t>(letters.size()));
  const spec::ModelSpec usual;
  return pairs && spec.stack == usual.stack && spec.embedding.kind == usual.embedding.kind &&
         spec.head.kind == usual.head.kind && spec.sizes["heads"].size() == 1 &&
         spec.sizes["inner"].size() == 1 && spec.attention.head_width == 0 && spec.norm == Norm::kPre &&
         spec.final_norm && spec.feed_forward.activation == InnerActivation::kGeluTanh &&
         spec.positions == Positions::kLearned && spec.attention.bias && spec.table_width() == spec.width &&
         !spec.adaptive() && !spec.embedding.scale && spec.head.tie_weights && !spec.head.bias;
}

std::string gpt2_name(const std::string& name) {
  const auto [block, rest] = split_name(name);
  if (block < 0) return renamed(outside(), rest, "", "GPT-2")[0];
  return renamed(inside(block % 2 == 0), rest, text("h.", block / 2, "."), "GPT-2")[0];
}

Json gpt2_config(const spec::ModelSpec& spec, DType dtype) {
  return {{"model_type", "gpt2"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"n_layer", static_cast<int64_t>(spec.letters().size()) / 2},
          {"n_embd", spec.width},
          {"n_head", spec.sizes["heads"][0]},
          {"n_inner", spec.sizes["inner"][0]},
          {"n_positions", spec.embedding.context},
          {"n_ctx", spec.embedding.context},
          {"vocab_size", spec.embedding.vocabulary},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", spec.epsilon},
          {"initializer_range", spec.deviation},
          {"resid_pdrop", spec.dropout},
          {"embd_pdrop", spec.dropout},
          {"attn_pdrop", spec.attention.dropout},
          {"scale_attn_weights", true},
          {"tie_word_embeddings", true},
          {"torch_dtype", text(dtype == DType::kBF16 ? "bfloat" : "float", 8 * size_of(dtype))}};
}

spec::ModelSpec read_gpt2_config(const Json& json, const std::string& what) {
  const ForeignConfig config(json, what, "GPT-2");
  const std::pair<const char*, InnerActivation> activations[] = {
      {"gelu_new", InnerActivation::kGeluTanh}, {"gelu_pytorch_tanh", InnerActivation::kGeluTanh}};
  spec::ModelSpec spec;
  spec.feed_forward.activation = config.one_of("activation_function", activations);
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("add_cross_attention", false);
  config.require("tie_word_embeddings", true);
  spec.width = config.whole_number("n_embd", 768);
  spec.arch = text("(sf)x", config.whole_number("n_layer", 12));
  spec.sizes["heads"] = {config.whole_number("n_head", 12)};
  spec.sizes["inner"] = {config.whole_number("n_inner", 4 * spec.width)};
  spec.embedding.context = config.whole_number("n_positions", 1024);
  spec.embedding.vocabulary = config.whole_number("vocab_size", 50257);
  spec.epsilon = config.number("layer_norm_epsilon", 1e-5);
  spec.dropout = config.number("resid_pdrop", 0.1);
  spec.attention.dropout = config.number("attn_pdrop", 0.1);
  return config.checked(spec);
}

// Both keep matrices [in, out].
Family gpt2_family() {
  return {"gpt2",
          "transformer.",
          "bpe",
          read_gpt2_config,
          [](const std::string& name) { return ForeignWeight{{gpt2_name(name)}}; },
          is_plain_gpt2,
          gpt2_config};
}

}  // namespace heed::store
