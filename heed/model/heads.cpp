#include "heed/model/heads.h"

namespace heed::model {

// The list of heads. A new one adds one line.
const Registry<HeadEntry>& heads() {
  static const Registry<HeadEntry> list(
      "head", {{"next-token", "which token follows, after every token", next_token_head}});
  return list;
}

}  // namespace heed::model
