// SRU++ (Lei 2021): z = down x; y = z, or z + alpha attention(z) where the block attends; u = up norm(y);
// then the recurrence, whose highway is the only residual path. Norm and maps are as in the author's code,
// which norms blocks without attention too.
#include <algorithm>
#include <cmath>

#include "heed/kernels/panels.h"
#include "heed/model/blocks.h"
#include "heed/model/stacks.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/arrange.h"
#include "heed/ops/attention.h"
#include "heed/ops/dropout.h"
#include "heed/ops/packed.h"
#include "heed/ops/sru.h"

namespace heed::model {
namespace {

class Recurrence {
 public:
  Recurrence(Builder& builder, int64_t block)
      : b_(builder),
        block_(block),
        name_(block_name(block)),
        inside_(name_ + "recurrence."),
        D_(builder.spec().width),
        P_(builder.block(block)["projection"]),
        down_(b_.matrix(inside_ + "down.weight", D_, P_, WeightGroup::kRecurrence, xavier(D_, P_))) {}

  ValueId add(ValueId x, bool attends) {
    if (b_.stack().mask != AttentionMask::kCausal)
      throw usage_error("model: block ", block_, " reads its text from left to right; the stack ",
                        b_.stack().name, " needs blocks that see all of it");
    const ValueId z = b_.product(x, down_);
    const ValueId y = attends ? attention(x, z) : z;
    const ValueId normed = b_.dropout(b_.norm(y, inside_ + "norm", P_), b_.spec().dropout);
    // The author scales the initial weights for the dropout in front of them.
    const double rate = b_.spec().dropout;
    const auto up = b_.matrix(inside_ + "up.weight", P_, 3 * D_, WeightGroup::kRecurrence,
                              xavier(P_, 3 * D_, std::sqrt(1 - rate)));
    return recurrence(x, b_.product(normed, up));
  }

 private:
  // z + alpha attention over the projections of the memory and the segment.
  ValueId attention(ValueId x, ValueId z) {
    const GraphForm& form = b_.form();
    const int64_t heads = b_.spec().recurrence.heads;
    ops::AttentionInputs inputs{.q = z, .k = kNone, .v = kNone, .positions = b_.key_range()};
    ops::AttentionSettings settings{.heads = heads, .head_width = P_ / heads, .mask = b_.stack().mask};
    // Only the mask depends on positions: there is no positional encoding.
    set_visible(settings, form);
    if (b_.drops(b_.spec().attention.dropout)) {
      settings.dropout = b_.spec().attention.dropout;
      settings.stream = b_.next_stream();
      inputs.rng = b_.rng();
    }
    const std::string kv_name = inside_ + "kv.weight", alpha_name = inside_ + "alpha";
    if (form.caches() && form.packs() && heads == 1) return absorbed(z, inputs, settings);
    const auto kv = b_.matrix(kv_name, P_, 2 * P_, WeightGroup::kAttention, xavier(P_, 2 * P_));
    if (form.caches()) {
      inputs.k = inputs.v = b_.append(name_ + "cache", b_.product(z, kv), 0, 2 * P_);
    } else {
      ValueId all = z;
      if (form.memory() > 0) {
        const ValueId memory = b_.recall(name_ + "memory", form.memory(), D_, false);
        b_.remember(name_ + "memory", x);
        all = ops::concat(b_.graph(), {b_.product(memory, down_), z}, 1);
      }
      inputs.k = inputs.v = b_.product(all, kv);
    }
    settings.v_offset = P_;
    const ValueId alpha = b_.parameter(alpha_name, {1}, WeightGroup::kAttention, closed_gate());
    return ops::add(b_.graph(), z,
                    ops::scale(b_.graph(), ops::attention(b_.graph(), inputs, settings), 1, alpha));
  }

  // Only z is cached: q . (z W_k) = (q W_k^T) . z, and sum p (z W_v) = (sum p z) W_v. Half the cache of keys
  // and values, the same work, equal up to rounding.
  ValueId absorbed(ValueId z, ops::AttentionInputs inputs, ops::AttentionSettings settings) {
    const std::string kv = inside_ + "kv.weight", alpha = inside_ + "alpha";
    b_.declare(kv, {P_, 2 * P_}, WeightGroup::kAttention, xavier(P_, 2 * P_));
    b_.declare(alpha, {1}, WeightGroup::kAttention, closed_gate());
    const int64_t P = P_;
    const ValueId keys = b_.derived(
        inside_ + "absorbed_keys", ops::packed_shape(P, P), {kv},
        [P](const std::vector<Tensor>& from, const Tensor& to) {
          const Buffer part(4 * P * P);
          auto* weight = reinterpret_cast<float*>(part.data());
          for (int64_t i = 0; i < P; ++i)  // [out, in]: used transposed
            std::copy_n(from[0].f32() + i * 2 * P, P, weight + i * P);
          kernels::pack_panels({P, P, weight, true, to.f32()});
        },
        4 * P * P);
    const ValueId values = b_.derived(
        inside_ + "absorbed_values", ops::packed_shape(P, P), {kv, alpha},
        [P](const std::vector<Tensor>& from, const Tensor& to) {
          const Buffer part(4 * P * P);
          auto* weight = reinterpret_cast<float*>(part.data());
          for (int64_t i = 0; i < P * P; ++i)
            weight[i] = from[1].f32()[0] * from[0].f32()[i / P * 2 * P + P + i % P];
          kernels::pack_panels({P, P, weight, false, to.f32()});
        },
        4 * P * P);
    inputs.q = b_.product(z, {keys, P});
    inputs.k = inputs.v = b_.append(name_ + "cache", z, 0, P);
    return b_.product(ops::attention(b_.graph(), inputs, settings), {values, P}, kNone, z);
  }

  ValueId recurrence(ValueId x, ValueId u) {
    const spec::ModelSpec& spec = b_.spec();
    const double highway = spec.recurrence.highway_bias;
    ops::SruSettings settings;
    if (spec.recurrence.rescale) settings.rescale = std::sqrt(1 + 2 * std::exp(highway));
    ops::SruInputs inputs{};
    inputs.u = u;
    inputs.x = x;
    inputs.v = b_.parameter(inside_ + "v", {2 * D_}, WeightGroup::kRecurrence, uniform(1));
    inputs.bias = b_.parameter(inside_ + "bias", {2 * D_}, WeightGroup::kRecurrence, second_half(highway));
    inputs.c0 = b_.recall(name_ + "cell", 1, D_, true);
    // One mask for all steps of a sequence; none in the last recurrence.
    const bool last =
        spec.letters().find_first_of("ra", static_cast<size_t>(block_) + 1) == std::string::npos;
    if (b_.drops(spec.dropout) && !last)
      inputs.mask = ops::dropout_mask(b_.graph(), b_.rng(),
                                      {{b_.form().sequences, D_}, spec.dropout, b_.next_stream()});
    if (b_.form().end() == GraphEnd::kNextToken && b_.form().length > 1) inputs.padding = b_.padding();
    const ops::SruOutputs outputs = ops::sru(b_.graph(), inputs, settings);
    b_.remember(name_ + "cell", outputs.c_last);
    return outputs.h;
  }

  Builder& b_;
  int64_t block_;
  std::string name_, inside_;
  int64_t D_, P_;  // width of the model, inner width
  Builder::Matrix down_;
};

}  // namespace

ValueId recurrence(Builder& builder, ValueId x, int64_t block) {
  return Recurrence(builder, block).add(x, false);
}

ValueId attentive_recurrence(Builder& builder, ValueId x, int64_t block) {
  return Recurrence(builder, block).add(x, true);
}

}  // namespace heed::model
