#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry device_verb();

}  // namespace heed::cli
