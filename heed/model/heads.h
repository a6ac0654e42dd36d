// What the output of the last block is turned into. A new head is its file and one line in heads.cpp.
#pragma once

#include "heed/base/registry.h"
#include "heed/model/embeddings.h"

namespace heed::model {

struct HeadEntry {
  std::string name;
  const char* meaning;
  // Adds what the form computes last and sets losses and loss, or scores, of the model. hidden: [B, T, D].
  void (*add)(Builder& builder, ValueId hidden, const Embedded& embedded);
};
const Registry<HeadEntry>& heads();

void next_token_head(Builder& builder, ValueId hidden, const Embedded& embedded);

}  // namespace heed::model
