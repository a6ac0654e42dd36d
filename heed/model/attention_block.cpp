#include <algorithm>
#include <memory>

#include "heed/kernels/panels.h"
#include "heed/model/blocks.h"
#include "heed/model/stacks.h"
#include "heed/ops/arrange.h"
#include "heed/ops/attention.h"
#include "heed/ops/packed.h"
#include "heed/ops/sinusoid.h"

namespace heed::model {
namespace {

// to [rows, W] = the encoding of distances rows - 1 .. 0 times the weight [D, W]. With a packed weight, so
// that a process that only generates does not load the library of products, which takes several MiB.
void project_distances(const Tensor& weight, int64_t clamp, const Tensor& to) {
  const int64_t rows = to.shape().dim(0), D = weight.shape().dim(0), W = weight.shape().dim(1);
  auto graph = std::make_shared<Graph>();
  const ValueId encoding = ops::sinusoid(*graph, {rows, D, clamp > 0 ? clamp : -1});
  const ValueId panels = graph->parameter("panels", ops::packed_shape(D, W));
  const ValueId result = ops::packed_linear(*graph, encoding, panels, kNone, kNone, {Activation::kNone, W});
  graph->mark_output(result);
  graph::Variables variables;
  graph::Program program(graph, variables);
  kernels::pack_panels({D, W, weight.f32(), false, variables.parameters->at("panels").f32()});
  program.run();
  const auto table = program.tensor(result).floats();
  std::copy(table.begin(), table.end(), to.floats().begin());
}

class SelfAttention {
 public:
  SelfAttention(Builder& builder, int64_t block)
      : b_(builder),
        name_(block_name(block)),
        inside_(name_ + "attention."),
        D_(builder.spec().width),
        W_(builder.block(block)["heads"] * builder.spec().head_width(builder.block(block))) {
    settings_.mask = b_.stack().mask;
    settings_.heads = b_.block(block)["heads"];
    settings_.head_width = b_.spec().head_width(b_.block(block));
    if (b_.drops(b_.spec().attention.dropout)) {
      settings_.dropout = b_.spec().attention.dropout;
      settings_.stream = b_.next_stream();
      inputs_.rng = b_.rng();
    }
    if (b_.sees_all()) inputs_.padding = b_.padding();
  }

  ValueId add(ValueId x) {
    const bool before = b_.spec().norm == Norm::kPre;
    const ValueId in = before ? b_.norm(x, name_ + "norm", D_) : x;
    if (b_.spec().positions == Positions::kRelative) {
      relative(x, in);
    } else {
      absolute(x, in);
    }
    const ValueId mixed = ops::attention(b_.graph(), inputs_, settings_);
    const auto out =
        b_.matrix(inside_ + "out.weight", W_, D_, WeightGroup::kAttention, b_.residual_initial());
    const ValueId sum = b_.product_into(x, mixed, out, bias("out.bias", D_));
    return before ? sum : b_.norm(sum, name_ + "norm", D_);
  }

 private:
  ValueId bias(const std::string& name, int64_t width, const Layer& layer = {}) {
    if (!b_.spec().attention.bias) return kNone;
    return b_.parameter(inside_ + name, {width}, WeightGroup::kAttention, constant(0), layer);
  }

  // Queries, keys and values are columns of one value. Learned positions are meaningless in another segment,
  // so with them there is no memory; without positions there is.
  void absolute(ValueId x, ValueId in) {
    const auto weight =
        b_.matrix(inside_ + "qkv.weight", D_, 3 * W_, WeightGroup::kAttention, b_.weight_initial());
    const ValueId qkv_bias = bias("qkv.bias", 3 * W_);
    const ValueId qkv = b_.product(in, weight, qkv_bias);
    const bool anywhere = b_.spec().positions == Positions::kNone;
    if (anywhere) {
      set_visible(settings_, b_.form());
      inputs_.positions = b_.key_range();
    }
    inputs_.q = qkv;
    if (b_.form().caches()) return keep(qkv, W_);
    inputs_.k = inputs_.v = anywhere ? after_memory(x, qkv, weight, qkv_bias) : qkv;
    settings_.k_offset = W_, settings_.v_offset = 2 * W_;
  }

  // Transformer-XL (Dai and others 2019, section 3.3). Queries of the memory are not needed, so they have
  // their own matrix; the public code has one for all three.
  void relative(ValueId x, ValueId in) {
    const GraphForm& form = b_.form();
    set_visible(settings_, form);
    inputs_.positions = b_.key_range();
    inputs_.relative = distances();
    const std::string shared = b_.spec().attention.shared_position_bias ? "attention." : inside_;
    const PositionBiases biases = position_biases(b_, shared, W_);
    inputs_.u = biases.u, inputs_.w = biases.w;
    const std::string q_name = inside_ + "q.weight", kv_name = inside_ + "kv.weight";
    const Layer qkv_weight{.name = inside_ + "qkv.weight"}, qkv_bias{.name = inside_ + "qkv.bias"};
    if (form.caches() && form.packs() && !b_.spec().attention.bias) {
      b_.declare(q_name, {D_, W_}, WeightGroup::kAttention, b_.weight_initial(), qkv_weight);
      b_.declare(kv_name, {D_, 2 * W_}, WeightGroup::kAttention, b_.weight_initial(), qkv_weight);
      const ValueId qkv = b_.product(in, b_.joined(inside_ + "qkv.joined", {q_name, kv_name}, D_, 3 * W_));
      inputs_.q = qkv;
      return keep(qkv, W_);
    }
    const auto q = b_.matrix(q_name, D_, W_, WeightGroup::kAttention, b_.weight_initial(), qkv_weight);
    const auto kv = b_.matrix(kv_name, D_, 2 * W_, WeightGroup::kAttention, b_.weight_initial(), qkv_weight);
    const ValueId kv_bias = bias("kv.bias", 2 * W_, qkv_bias);
    inputs_.q = b_.product(in, q, bias("q.bias", W_, qkv_bias));
    const ValueId keys = b_.product(in, kv, kv_bias);
    if (form.caches()) return keep(keys, 0);
    inputs_.k = inputs_.v = after_memory(x, keys, kv, kv_bias);
    settings_.v_offset = W_;
  }

  // `keys`, made from the block's input x, after those of the memory. They are projected separately: the
  // memory needs no gradient.
  ValueId after_memory(ValueId x, ValueId keys, const Builder::Matrix& weight, ValueId weight_bias) {
    if (b_.form().memory() == 0) return keys;
    ValueId memory = b_.recall(name_ + "memory", b_.form().memory(), D_, false);
    b_.remember(name_ + "memory", x);
    if (b_.spec().norm == Norm::kPre) memory = b_.norm(memory, name_ + "norm", D_);
    return ops::concat(b_.graph(), {b_.product(memory, weight, weight_bias), keys}, 1);
  }

  void keep(ValueId from, int64_t first_column) {
    inputs_.positions = b_.key_range();
    inputs_.k = inputs_.v = b_.append(name_ + "cache", from, first_column, 2 * W_);
    settings_.v_offset = W_;
  }

  // Row r is the key of distance reach - 1 - r. With constant weights it is a table.
  ValueId distances() {
    const std::string name = inside_ + "r.weight";
    if (!b_.form().packs() || !b_.form().caches()) {
      const auto weight = b_.matrix(name, D_, W_, WeightGroup::kAttention, b_.weight_initial());
      return b_.product(b_.distances(), weight);
    }
    b_.declare(name, {D_, W_}, WeightGroup::kAttention, b_.weight_initial());
    const int64_t rows = b_.form().distances(), clamp = b_.form().protocol().clamp;
    return b_.derived(
        inside_ + "r.table", {rows, W_}, {name},
        [=](const std::vector<Tensor>& from, const Tensor& to) { project_distances(from[0], clamp, to); },
        4 * (rows * (D_ + W_) + D_ * W_));
  }

  Builder& b_;
  std::string name_, inside_;
  int64_t D_, W_;  // widths of the model and of all heads together
  ops::AttentionInputs inputs_;
  ops::AttentionSettings settings_;
};

}  // namespace

PositionBiases position_biases(Builder& builder, const std::string& name, int64_t width) {
  return {builder.parameter(name + "u", {width}, WeightGroup::kAttention, builder.weight_initial()),
          builder.parameter(name + "w", {width}, WeightGroup::kAttention, builder.weight_initial())};
}

ValueId self_attention(Builder& builder, ValueId x, int64_t block) {
  return SelfAttention(builder, block).add(x);
}

}  // namespace heed::model
