// GPT-2: pre-norm blocks, learned positions, tied output, tanh GELU. Parameters are named and stored as in
// Hugging Face's model, whose [in, out] matrices are also the layout heed computes with.
#pragma once

#include "heed/graph/program.h"
#include "heed/spec/model_spec.h"

namespace heed::model {

struct Batch {
  int64_t sequences = 1;
  int64_t length = 1;
};

// How matrices are stored: as they are, or packed for inference (kernels/panels.h), under the same names.
enum class Weights { kPlain, kPacked };

struct PackedParameter {
  std::string name;
  int64_t in, out;
  bool transposed;  // the plain one is [out, in]
};

// The values a caller works with.
struct Gpt2 {
  graph::ValueId tokens;   // i32 [B, T], input "tokens"
  graph::ValueId targets;  // i32 [B*T], input "targets", -1 to ignore
  graph::ValueId hidden;   // [B, T, D], after the last norm
  graph::ValueId losses;   // [B*T], nats per token
  graph::ValueId loss;     // [1], their mean
  graph::ValueId logits;   // [B, T, V]
  std::vector<PackedParameter> packed;
};

// Adds the model up to `hidden`. With `training` and dropout in the spec there is an input "rng".
Gpt2 gpt2_body(graph::Graph& graph, const spec::ModelSpec& spec, Batch batch, bool training, Weights weights);
// Body and loss.
Gpt2 gpt2_loss(graph::Graph& graph, const spec::ModelSpec& spec, Batch batch, bool training);
// Body and all logits.
Gpt2 gpt2_logits(graph::Graph& graph, const spec::ModelSpec& spec, Batch batch, Weights weights);

// Weights as the authors start: N(0, 0.02), the two maps back into the residual stream N(0, 0.02 / sqrt(2
// L)), gains 1, biases 0. Packed or not, the numbers are the same.
void initialise_gpt2(const graph::Graph& graph, const Gpt2& model, graph::Variables& variables,
                     const spec::ModelSpec& spec, uint64_t seed);
// Fills the packed weights of `model` from plain ones.
void pack_gpt2(const graph::Graph& graph, const Gpt2& model, const graph::Variables& plain,
               graph::Variables& packed);

}  // namespace heed::model
