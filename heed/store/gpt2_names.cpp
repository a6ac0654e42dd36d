#include "heed/store/gpt2_names.h"

#include <array>
#include <cmath>
#include <utility>

#include "heed/spec/design.h"

namespace heed::store {
namespace {

struct Renaming {
  const char* ours;
  const char* theirs;
};

constexpr Renaming kOutside[] = {
    {"embedding.table", "wte.weight"}, {"embedding.positions", "wpe.weight"}, {"norm.", "ln_f."}};
// Pair p has its attention at block 2p and its feed-forward at block 2p + 1.
constexpr Renaming kInside[2][3] = {
    {{"norm.", "ln_1."}, {"attention.qkv.", "attn.c_attn."}, {"attention.out.", "attn.c_proj."}},
    {{"norm.", "ln_2."}, {"feed_forward.in.", "mlp.c_fc."}, {"feed_forward.out.", "mlp.c_proj."}}};

template <size_t N>
std::string renamed(const Renaming (&list)[N], const std::string& name) {
  for (const auto& [ours, theirs] : list) {
    if (name.starts_with(ours)) return theirs + name.substr(std::string_view(ours).size());
  }
  throw usage_error("'", name, "' has no name in Hugging Face's GPT-2");
}

// The value of a key that is present and not null, checked to be of that kind.
const Json* given(const Json& config, const char* key, bool (Json::*is_kind)() const noexcept,
                  const char* kind, const std::string& what) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return nullptr;
  if (!((*found).*is_kind)()) throw usage_error(what, ": ", key, " is ", found->dump(), ", not ", kind);
  return &*found;
}

int64_t whole_number(const Json& config, const char* key, int64_t otherwise, const std::string& what) {
  const Json* value = given(config, key, &Json::is_number_integer, "a whole number", what);
  if (value && std::abs(value->get<double>()) > 0x1p32)
    throw usage_error(what, ": ", key, " is ", value->dump(), ", far beyond any model");
  return value ? value->get<int64_t>() : otherwise;
}

double number(const Json& config, const char* key, double otherwise, const std::string& what) {
  const Json* value = given(config, key, &Json::is_number, "a number", what);
  return value ? value->get<double>() : otherwise;
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
  const std::string blocks = "blocks.";
  if (!name.starts_with(blocks)) return renamed(kOutside, name);
  const size_t dot = name.find('.', blocks.size());
  const int64_t block = std::stoll(name.substr(blocks.size(), dot - blocks.size()));
  return text("h.", block / 2, ".", renamed(kInside[block % 2], name.substr(dot + 1)));
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

spec::ModelSpec read_gpt2_config(const Json& config, const std::string& what) {
  const auto refuse = [&](const char* key, const Json& wanted) {
    if (config.contains(key) && config.at(key) != wanted)
      throw usage_error(what, ": ", key, " is ", config.at(key).dump(), "; heed builds GPT-2 with ",
                        wanted.dump());
  };
  const Json activation = config.value("activation_function", Json("gelu_new"));
  if (activation != "gelu_new" && activation != "gelu_pytorch_tanh")
    throw usage_error(what, ": activation_function is ", activation.dump(),
                      "; heed builds GPT-2 with gelu_new");
  refuse("scale_attn_weights", true);
  refuse("scale_attn_by_inverse_layer_idx", false);
  refuse("add_cross_attention", false);
  refuse("tie_word_embeddings", true);
  spec::ModelSpec spec;
  spec.width = whole_number(config, "n_embd", 768, what);
  spec.arch = text("(sf)x", whole_number(config, "n_layer", 12, what));
  spec.sizes["heads"] = {whole_number(config, "n_head", 12, what)};
  spec.sizes["inner"] = {whole_number(config, "n_inner", 4 * spec.width, what)};
  spec.embedding.context = whole_number(config, "n_positions", 1024, what);
  spec.embedding.vocabulary = whole_number(config, "vocab_size", 50257, what);
  spec.epsilon = number(config, "layer_norm_epsilon", 1e-5, what);
  spec.dropout = number(config, "resid_pdrop", 0.1, what);
  spec.attention.dropout = number(config, "attn_pdrop", 0.1, what);
  try {
    validate(spec);
  } catch (const Error& error) {
    throw usage_error(what, ": ", error.what());
  }
  return spec;
}

}  // namespace heed::store
