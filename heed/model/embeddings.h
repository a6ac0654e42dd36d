// What the first block reads. A new embedding is its file and one line in embeddings.cpp.
#pragma once

#include "heed/base/registry.h"
#include "heed/model/builder.h"

namespace heed::model {

// The embedded tokens, and the weights that a tied head reuses.
struct Embedded {
  ValueId x;  // [B, T, D]
  std::vector<ValueId> tables, projections;
};

struct EmbeddingEntry {
  std::string name;
  const char* meaning;
  Embedded (*add)(Builder& builder);
};
const Registry<EmbeddingEntry>& embeddings();

Embedded bert_embedding(Builder& builder);
Embedded token_embedding(Builder& builder);

// Tokens, and positions where they are learned, before any dropout: what other embeddings begin with.
Embedded embed_tokens(Builder& builder);

}  // namespace heed::model
