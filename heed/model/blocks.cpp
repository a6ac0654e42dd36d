#include "heed/model/blocks.h"

namespace heed::model {

ValueId identity(Builder&, ValueId x, int64_t) { return x; }

ValueId add_block(Builder& builder, ValueId x, int64_t block) {
  switch (builder.block(block).letter) {
#define HEED_LETTER(letter, function, ...) \
  case letter:                             \
    return function(builder, x, block);
#include "heed/spec/letters.def"
#undef HEED_LETTER
  }
  HEED_ASSERT(!"every letter of a model is in the table");
  return kNone;
}

void set_visible(ops::AttentionSettings& settings, const GraphForm& form) {
  settings.memory_length = form.memory();
  switch (form.protocol().visible) {
    case Visible::kAll:
      break;
    case Visible::kSameLength:
      settings.same_length = SameLength::kNv;
      break;
    case Visible::kSameLengthOriginal:
      settings.same_length = SameLength::kOrig;
      break;
    case Visible::kBand:
      settings.window = form.memory();
      break;
  }
}

}  // namespace heed::model
