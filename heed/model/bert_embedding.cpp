#include "heed/model/embeddings.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/embedding.h"

namespace heed::model {

// dropout(LN(token + position + type)), Devlin and others 2019. DistilBERT has no types.
Embedded bert_embedding(Builder& b) {
  const spec::ModelSpec& spec = b.spec();
  Embedded embedded = embed_tokens(b);
  if (spec.embedding.types > 0) {
    const ValueId table = b.parameter("embedding.types", {spec.embedding.types, spec.width},
                                      WeightGroup::kEmbedding, normal(spec.deviation));
    embedded.x = ops::add(b.graph(), embedded.x, ops::embedding(b.graph(), b.types(), table));
  }
  embedded.x = b.dropout(b.norm(embedded.x, "embedding.norm", spec.width), spec.dropout);
  return embedded;
}

}  // namespace heed::model
