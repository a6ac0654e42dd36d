#include "heed/model/stacks.h"

#include "heed/model/blocks.h"

namespace heed::model {

// The list of stacks. A new one adds one line.
const Registry<StackEntry>& stacks() {
  static const Registry<StackEntry> list(
      "stack", {
                   {"decoder", "a token sees those before it", AttentionMask::kCausal},
                   {"encoder", "a token sees all others that are not padding", AttentionMask::kFull},
               });
  return list;
}

ValueId add_stack(Builder& builder, ValueId x) {
  const spec::ModelSpec& spec = builder.spec();
  const int64_t alternatives = spec.mix ? spec.mix : 1;
  for (int64_t first = 0; first < builder.block_count(); first += alternatives) {
    std::vector<ValueId> branches;
    for (int64_t block = first; block < first + alternatives; ++block) {
      builder.graph().begin_section(static_cast<int>(block) + 1);
      branches.push_back(add_block(builder, x, block));
    }
    x = spec.mix ? builder.mixed(branches, first / alternatives) : branches[0];
  }
  builder.graph().begin_section(kFrameSection);
  if (spec.final_norm) x = builder.norm(x, "norm", spec.width);
  if (spec.dropout_everywhere) x = builder.dropout(x, spec.dropout);
  return x;
}

}  // namespace heed::model
