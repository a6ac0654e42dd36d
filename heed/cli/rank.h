#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry rank_verb();

}  // namespace heed::cli
