// The stack of blocks between embedding and head. A new kind of stack is one line in stacks.cpp.
#pragma once

#include "heed/base/registry.h"
#include "heed/kernels/attention.h"
#include "heed/model/builder.h"

namespace heed::model {

struct StackEntry {
  std::string name;
  const char* meaning;
  AttentionMask mask;  // which tokens of its text a token sees
};
const Registry<StackEntry>& stacks();

// Adds the blocks of the model, and the norm and dropout after the last of them; x and the result: [B, T, D].
ValueId add_stack(Builder& builder, ValueId x);

}  // namespace heed::model
