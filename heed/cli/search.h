#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry search_verb();

}  // namespace heed::cli
