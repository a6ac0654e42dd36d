#include "heed/model/heads.h"

namespace heed::model {

// The list of heads. A new one adds one line.
const Registry<HeadEntry>& heads() {
  static const Registry<HeadEntry> list(
      "head",
      {
          {"bert", "which token a mask hides, and whether the second text follows the first",
           "masked words, next sentence", true, bert_head},
          {"hidden", "a vector for each token", "a vector for each token", false, hidden_head},
          {"masked-token", "which token a mask hides", "masked words", true, masked_token_head},
          {"next-token", "which token follows, after every token", "next word", true, next_token_head},
      });
  return list;
}

}  // namespace heed::model
