#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry generate_verb();

}  // namespace heed::cli
