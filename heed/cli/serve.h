#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry serve_verb();

}  // namespace heed::cli
