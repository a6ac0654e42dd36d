// One token per byte: V = 256, nothing to learn, any text can be encoded.
#pragma once

#include "heed/data/tokenizer.h"

namespace heed::data {

TokenizerEntry bytes_tokenizer();

}  // namespace heed::data
