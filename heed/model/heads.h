// What the output of the last block is turned into. A new head is its file and one line in heads.cpp.
#pragma once

#include "heed/base/registry.h"
#include "heed/model/embeddings.h"

namespace heed::model {

struct HeadEntry {
  std::string name;
  const char* meaning;
  const char* result;  // what comes out, for drawings
  bool has_loss;       // otherwise it is only for inference: the model has scores in every form
  // Adds what the form computes last and sets losses and loss, or scores, of the model. hidden: [B, T, D].
  void (*add)(Builder& builder, ValueId hidden, const Embedded& embedded);
};
const Registry<HeadEntry>& heads();

void bert_head(Builder& builder, ValueId hidden, const Embedded& embedded);
void hidden_head(Builder& builder, ValueId hidden, const Embedded& embedded);
void masked_token_head(Builder& builder, ValueId hidden, const Embedded& embedded);
void next_token_head(Builder& builder, ValueId hidden, const Embedded& embedded);

// Scores of all words for each vector, or the losses of those with a target: what heads end in.
void score_words(Builder& builder, ValueId hidden, const Embedded& embedded);

}  // namespace heed::model
