#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry design_verb();

}  // namespace heed::cli
