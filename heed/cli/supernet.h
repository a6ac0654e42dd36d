#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry supernet_verb();

}  // namespace heed::cli
