#include "heed/model/blocks.h"

namespace heed::model {

// x + W2 activation(W1 x + b1) + b2, with its norm before the maps or after the sum.
ValueId feed_forward(Builder& b, ValueId x, int64_t block) {
  const spec::ModelSpec& spec = b.spec();
  const std::string name = block_name(block), inside = name + "feed_forward.";
  const int64_t D = spec.width, F = b.block(block)["inner"];
  const bool before = spec.norm == Norm::kPre;
  const ValueId in = before ? b.norm(x, name + "norm", D) : x;
  const auto first = b.matrix(inside + "in.weight", D, F, WeightGroup::kFeedForward, b.weight_initial());
  ValueId inner =
      b.product(in, first, b.parameter(inside + "in.bias", {F}, WeightGroup::kFeedForward, constant(0)),
                kNone, b.inner_activation());
  if (spec.dropout_everywhere) inner = b.dropout(inner, spec.dropout);
  const auto second = b.matrix(inside + "out.weight", F, D, WeightGroup::kFeedForward, b.residual_initial());
  const ValueId sum = b.product_into(
      x, inner, second, b.parameter(inside + "out.bias", {D}, WeightGroup::kFeedForward, constant(0)));
  return before ? sum : b.norm(sum, name + "norm", D);
}

}  // namespace heed::model
