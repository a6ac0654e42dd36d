#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry recipes_verb();

}  // namespace heed::cli
