#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry manual_verb();

}  // namespace heed::cli
