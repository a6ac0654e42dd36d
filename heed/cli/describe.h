#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry describe_verb();

}  // namespace heed::cli
