#include "heed/model/gpt2.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/panels.h"
#include "heed/model/initialise.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/attention.h"
#include "heed/ops/dropout.h"
#include "heed/ops/embedding.h"
#include "heed/ops/layer_norm.h"
#include "heed/ops/linear.h"
#include "heed/ops/packed.h"
#include "heed/ops/softmax_loss.h"

namespace heed::model {
namespace {

using graph::Graph;
using graph::kNone;
using graph::ValueId;

// Builds block after block; numbers the streams of random numbers as it goes.
class Builder {
 public:
  Builder(Graph& graph, const spec::ModelSpec& spec, Batch batch, bool training, Weights weights)
      : graph_(graph), spec_(spec), batch_(batch), weights_(weights) {
    spec::validate(spec);
    if (batch.sequences < 1 || batch.length < 1 || batch.length > spec.context) {
      throw usage_error("gpt2: a batch of ", batch.sequences, " x ", batch.length,
                        " tokens; the model takes 1 to ", spec.context, " positions");
    }
    if (training && (spec.dropout > 0 || spec.attention_dropout > 0))
      rng_ = graph.input("rng", {4}, DType::kI32);
  }

  Gpt2 body() {
    const int64_t D = spec_.width;
    Gpt2& model = model_;
    model.tokens = graph_.input("tokens", {batch_.sequences, batch_.length}, DType::kI32);
    const ValueId wte = matrix("wte.weight", D, spec_.vocabulary, true),
                  wpe = graph_.parameter("wpe.weight", {spec_.context, D});
    ValueId x = weights_ == Weights::kPacked
                    ? ops::packed_embedding(graph_, model.tokens, wte, wpe, kNone, {spec_.vocabulary})
                    : drop(ops::embedding(graph_, model.tokens, wte, wpe));
    for (int64_t layer = 0; layer < spec_.layers; ++layer) x = feed_forward(attention(x, layer), layer);
    model.hidden = norm(x, "ln_f");
    return std::move(model_);
  }

 private:
  ValueId norm(ValueId x, const std::string& name) {
    return ops::layer_norm(graph_, x, graph_.parameter(name + ".weight", {spec_.width}),
                           graph_.parameter(name + ".bias", {spec_.width}));
  }

  ValueId matrix(const std::string& name, int64_t in, int64_t out, bool transposed) {
    if (weights_ == Weights::kPlain)
      return graph_.parameter(name, transposed ? Shape{out, in} : Shape{in, out});
    model_.packed.push_back({name, in, out, transposed});
    return graph_.parameter(name, ops::packed_shape(in, out));
  }

  ValueId linear(ValueId x, const std::string& name, int64_t in, int64_t out, ValueId residual,
                 Activation activation) {
    const ValueId weight = matrix(name + ".weight", in, out, false),
                  bias = graph_.parameter(name + ".bias", {out});
    if (weights_ == Weights::kPacked)
      return ops::packed_linear(graph_, x, weight, bias, residual, {activation, out});
    // Dropout stands between the map and the residual, which can then not be one op.
    if (residual && rng_ && spec_.dropout > 0)
      return ops::add(graph_, residual, drop(ops::linear(graph_, x, weight, bias)));
    return ops::linear(graph_, x, weight, bias, residual, {activation, false, false});
  }

  ValueId drop(ValueId x) {
    return rng_ ? ops::dropout(graph_, x, rng_, {spec_.dropout, next_stream_++, false}) : x;
  }

  ValueId attention(ValueId x, int64_t layer) {
    const std::string name = text("h.", layer, ".");
    const int64_t D = spec_.width, heads = spec_.heads_of(layer);
    const ValueId qkv =
        linear(norm(x, name + "ln_1"), name + "attn.c_attn", D, 3 * D, kNone, Activation::kNone);
    ops::AttentionSettings settings{
        .heads = heads, .head_width = D / heads, .k_offset = D, .v_offset = 2 * D};
    if (rng_ && spec_.attention_dropout > 0)
      settings.dropout = spec_.attention_dropout, settings.stream = next_stream_++;
    const ValueId mixed = ops::attention(
        graph_, {.q = qkv, .k = qkv, .v = qkv, .rng = settings.dropout > 0 ? rng_ : kNone}, settings);
    return linear(mixed, name + "attn.c_proj", D, D, x, Activation::kNone);
  }

  ValueId feed_forward(ValueId x, int64_t layer) {
    const std::string name = text("h.", layer, ".");
    const int64_t D = spec_.width, F = spec_.inner_of(layer);
    const ValueId inner =
        linear(norm(x, name + "ln_2"), name + "mlp.c_fc", D, F, kNone, Activation::kGeluTanh);
    return linear(inner, name + "mlp.c_proj", F, D, x, Activation::kNone);
  }

  Graph& graph_;
  const spec::ModelSpec& spec_;
  Batch batch_;
  Weights weights_;
  Gpt2 model_{};
  ValueId rng_ = kNone;
  int64_t next_stream_ = 0;
};

bool ends_with(const std::string& name, const std::string& end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

const PackedParameter* find_packed(const Gpt2& model, const std::string& name) {
  for (const PackedParameter& packed : model.packed) {
    if (packed.name == name) return &packed;
  }
  return nullptr;
}

}  // namespace

Gpt2 gpt2_body(Graph& graph, const spec::ModelSpec& spec, Batch batch, bool training, Weights weights) {
  return Builder(graph, spec, batch, training, weights).body();
}

Gpt2 gpt2_loss(Graph& graph, const spec::ModelSpec& spec, Batch batch, bool training) {
  Gpt2 model = gpt2_body(graph, spec, batch, training, Weights::kPlain);
  model.targets = graph.input("targets", {batch.sequences * batch.length}, DType::kI32);
  model.losses = ops::softmax_loss(graph, model.hidden, graph.find("wte.weight"), kNone, model.targets);
  model.loss = ops::mean_loss(graph, model.losses, model.targets);
  return model;
}

Gpt2 gpt2_logits(Graph& graph, const spec::ModelSpec& spec, Batch batch, Weights weights) {
  Gpt2 model = gpt2_body(graph, spec, batch, false, weights);
  const ValueId wte = graph.find("wte.weight");
  model.logits =
      weights == Weights::kPacked
          ? ops::packed_linear(graph, model.hidden, wte, kNone, kNone, {Activation::kNone, spec.vocabulary})
          : ops::linear(graph, model.hidden, wte, kNone, kNone, {Activation::kNone, true, false});
  return model;
}

void initialise_gpt2(const Graph& graph, const Gpt2& model, graph::Variables& variables,
                     const spec::ModelSpec& spec, uint64_t seed) {
  variables.allocate(graph);
  uint32_t stream = 0;
  for (ValueId id : graph.of_role(graph::Role::kParameter)) {
    const std::string& name = graph.value(id).name;
    const Tensor tensor = variables.at(name);
    const double deviation =
        ends_with(name, ".c_proj.weight") ? 0.02 / std::sqrt(2.0 * static_cast<double>(spec.layers)) : 0.02;
    if (const PackedParameter* packed = find_packed(model, name)) {
      // The largest comes first, when little else is there: this memory does not add to the peak.
      const Buffer plain(4 * packed->in * packed->out);
      const Tensor weight{plain.data(), {{packed->in, packed->out}}};
      fill_normal(weight, deviation, seed, stream);
      kernels::pack_panels({packed->in, packed->out, weight.f32(), packed->transposed, tensor.f32()});
    } else if (ends_with(name, ".bias")) {
      fill_constant(tensor, 0);
    } else if (tensor.shape().rank() == 1) {
      fill_constant(tensor, 1);  // the gain of a norm
    } else {
      fill_normal(tensor, deviation, seed, stream);
    }
    ++stream;
  }
}

void pack_gpt2(const Graph& graph, const Gpt2& model, const graph::Variables& plain,
               graph::Variables& packed) {
  packed.allocate(graph);
  for (ValueId id : graph.of_role(graph::Role::kParameter)) {
    const std::string& name = graph.value(id).name;
    const Tensor from = plain.at(name), to = packed.at(name);
    if (const PackedParameter* p = find_packed(model, name)) {
      kernels::pack_panels({p->in, p->out, from.f32(), p->transposed, to.f32()});
    } else {
      std::copy(from.floats().begin(), from.floats().end(), to.floats().begin());
    }
  }
}

}  // namespace heed::model
