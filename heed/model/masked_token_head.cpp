// The heads that BERT is pretrained with (Devlin and others 2019, section 3.1).
#include "heed/model/heads.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/arrange.h"
#include "heed/ops/linear.h"
#include "heed/ops/softmax_loss.h"

namespace heed::model {

// Targets are the words that masks hide, -1 elsewhere; only rows with a target reach the vocabulary.
void masked_token_head(Builder& b, ValueId hidden, const Embedded& embedded) {
  const int64_t D = b.spec().width;
  const auto weight = b.matrix("output.transform.weight", D, D, WeightGroup::kOutput, b.weight_initial());
  const ValueId bias = b.parameter("output.transform.bias", {D}, WeightGroup::kOutput, constant(0));
  const ValueId transformed = b.product(hidden, weight, bias, kNone, b.inner_activation());
  score_words(b, b.norm(transformed, "output.norm", D), embedded);
}

// The masked words, and from the first token whether the second text follows the first (0) or not (1). The
// losses are those of the words, the loss is the sum of both means.
void bert_head(Builder& b, ValueId hidden, const Embedded& embedded) {
  masked_token_head(b, hidden, embedded);
  Graph& g = b.graph();
  const int64_t D = b.spec().width;
  const auto parameter = [&](const char* name, Shape shape, Initial initial) {
    return b.parameter(name, shape, WeightGroup::kOutput, initial);
  };
  const auto weight = b.matrix("pooler.weight", D, D, WeightGroup::kOutput, b.weight_initial());
  const ValueId bias = parameter("pooler.bias", {D}, constant(0));
  const ValueId classes = parameter("next_sentence.weight", {2, D}, b.weight_initial()),
                class_bias = parameter("next_sentence.bias", {2}, constant(0));
  if (!b.model().loss) return;  // scores are those of the words
  const ValueId labels = b.read("next_sentence", {b.form().sequences});
  const ValueId first = ops::slice(g, hidden, {.axis = 1, .begin = 0, .end = 1});
  const ValueId pooled = b.product(first, weight, bias, kNone, Activation::kTanh);
  const ValueId losses = ops::softmax_loss(g, pooled, classes, class_bias, labels);
  b.model().loss = ops::add(g, b.model().loss, ops::mean_loss(g, losses, labels));
}

}  // namespace heed::model
