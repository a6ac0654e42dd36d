#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry eval_verb();

}  // namespace heed::cli
