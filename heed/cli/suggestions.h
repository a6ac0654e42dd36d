// What was meant by a flag that does not exist.
#pragma once

#include <string>

#include "heed/cli/flags.h"

namespace heed::cli {

// "; did you mean '--temperature'?", or a sentence about where that is set; "" if nothing is close. `word` is
// as it was typed, `flags` are those of the verb.
std::string suggestion(const std::string& word, const Flags& flags);

}  // namespace heed::cli
