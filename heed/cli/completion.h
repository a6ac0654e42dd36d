#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry completion_verb();

}  // namespace heed::cli
