// GPT-2 in Hugging Face's naming: names of weights and keys of config.json.
#pragma once

#include <optional>
#include <string>

#include "heed/spec/model_spec.h"
#include "heed/tensor/dtype.h"

namespace heed::store {

// Whether their GPT-2 can express the model: pairs of one size, learned positions, tied output.
bool is_plain_gpt2(const spec::ModelSpec& spec);

// "blocks.3.feed_forward.in.weight" -> "h.1.mlp.c_fc.weight". Both keep matrices [in, out].
std::string gpt2_name(const std::string& name);

// config.json of such a model whose weights are stored as floats of that type, and back. Throws for settings
// that heed cannot build.
Json gpt2_config(const spec::ModelSpec& spec, DType dtype);
spec::ModelSpec read_gpt2_config(const Json& config, const std::string& what);

}  // namespace heed::store
