// The blocks of an architecture string, by letter. A new block is its file and one line in blocks.cpp.
#pragma once

#include "heed/base/registry.h"
#include "heed/model/builder.h"
#include "heed/ops/attention.h"

namespace heed::model {

struct BlockEntry {
  std::string name;  // the letter
  const char* meaning;
  // Adds the block at this place in the string; x: [B, T, D], so is the result.
  ValueId (*add)(Builder& builder, ValueId x, int64_t block);
};
const Registry<BlockEntry>& blocks();

ValueId attention_block(Builder& builder, ValueId x, int64_t block);
ValueId feed_forward_block(Builder& builder, ValueId x, int64_t block);
ValueId recurrence_block(Builder& builder, ValueId x, int64_t block);
ValueId attentive_recurrence_block(Builder& builder, ValueId x, int64_t block);

// Tells attention which keys a query sees, by the rule of the use.
void set_visible(ops::AttentionSettings& settings, const Use& use);

// Content and position bias of relative attention, u and v of Dai and others 2019 (heed's u and w).
struct PositionBiases {
  ValueId u, w;
};
PositionBiases position_biases(Builder& builder, const std::string& name, int64_t width);

// "blocks.3.": begins the names of its weights.
inline std::string block_name(int64_t block) { return text("blocks.", block, "."); }

}  // namespace heed::model
