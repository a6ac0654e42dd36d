#include "heed/model/embeddings.h"

namespace heed::model {

// The list of embeddings. A new one adds one line.
const Registry<EmbeddingEntry>& embeddings() {
  static const Registry<EmbeddingEntry> list(
      "embedding",
      {
          {"bert", "tokens, positions and types, and a norm of their sum", bert_embedding},
          {"tokens", "a table of tokens, and of positions where they are learned", token_embedding},
      });
  return list;
}

}  // namespace heed::model
