#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry bench_verb();

}  // namespace heed::cli
