// The blocks of an architecture string. spec/letters.def says which function builds which letter.
#pragma once

#include "heed/model/builder.h"
#include "heed/ops/attention.h"

namespace heed::model {

// Adds the block at this index of the string; x and the result: [B, T, D].
ValueId add_block(Builder& builder, ValueId x, int64_t block);
// The same for each letter.
#define HEED_LETTER(letter, function, ...) ValueId function(Builder& builder, ValueId x, int64_t block);
#include "heed/spec/letters.def"
#undef HEED_LETTER

// Tells attention which keys a query sees, by the protocol of the form.
void set_visible(ops::AttentionSettings& settings, const GraphForm& form);

// Content and position bias of relative attention, u and v of Dai and others 2019 (heed's u and w).
struct PositionBiases {
  ValueId u, w;
};
PositionBiases position_biases(Builder& builder, const std::string& name, int64_t width);

// "blocks.3.": the prefix of the names of its weights.
inline std::string block_name(int64_t block) { return text("blocks.", block, "."); }

}  // namespace heed::model
