#include "heed/model/blocks.h"

namespace heed::model {

// The list of blocks. A new one adds one line.
const Registry<BlockEntry>& blocks() {
  static const Registry<BlockEntry> list(
      "block", {
                   {"a", "SRU++: recurrence with attention", attentive_recurrence_block},
                   {"f", "feed-forward", feed_forward_block},
                   {"i", "identity", [](Builder&, ValueId x, int64_t) { return x; }},
                   {"r", "recurrence", recurrence_block},
                   {"s", "self-attention", attention_block},
               });
  return list;
}

void set_visible(ops::AttentionSettings& settings, const Use& use) {
  settings.memory_length = use.memory;
  switch (use.visible) {
    case Visible::kAll:
      break;
    case Visible::kSameLength:
      settings.same_length = SameLength::kNv;
      break;
    case Visible::kSameLengthOriginal:
      settings.same_length = SameLength::kOrig;
      break;
    case Visible::kBand:
      settings.window = use.memory;
      break;
  }
}

}  // namespace heed::model
