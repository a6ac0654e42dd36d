#include <cmath>

#include "heed/model/embeddings.h"
#include "heed/model/vocabulary.h"
#include "heed/ops/adaptive_embedding.h"
#include "heed/ops/arithmetic.h"
#include "heed/ops/embedding.h"
#include "heed/ops/packed.h"

namespace heed::model {

Embedded embed_tokens(Builder& b) {
  const spec::ModelSpec& spec = b.spec();
  const Vocabulary vocabulary(b);
  Graph& g = b.graph();
  const ValueId tokens = b.tokens();
  Embedded embedded{kNone, vocabulary.tables("embedding.table", WeightGroup::kEmbedding), {}};
  const double scale = spec.embedding.scale ? std::sqrt(static_cast<double>(spec.width)) : 1;
  ValueId& positions = b.model().positions;
  if (spec.positions == Positions::kLearned)
    positions = b.parameter("embedding.positions", {spec.embedding.context, spec.width},
                            WeightGroup::kEmbedding, normal(spec.deviation));
  if (vocabulary.plain()) {
    const ValueId table = embedded.tables[0],
                  first = positions && b.form().caches() ? b.first_position() : kNone;
    embedded.x = vocabulary.packs() ? ops::packed_embedding(g, tokens, table, positions, first,
                                                            {spec.embedding.vocabulary, scale})
                                    : ops::embedding(g, tokens, table, positions, first, {scale});
  } else {
    embedded.projections = vocabulary.embedding_projections();
    ops::AdaptiveEmbeddingSettings settings{spec.cluster_ends(), scale, vocabulary.one_table()};
    const ValueId rng = vocabulary.drop_inside(settings);
    embedded.x = ops::adaptive_embedding(g, tokens, embedded.tables, embedded.projections, settings, rng);
    if (positions) embedded.x = ops::add(g, embedded.x, ops::embedding(g, b.token_positions(), positions));
  }
  return embedded;
}

Embedded token_embedding(Builder& b) {
  Embedded embedded = embed_tokens(b);
  embedded.x = b.dropout(embedded.x, b.spec().dropout);
  return embedded;
}

}  // namespace heed::model
