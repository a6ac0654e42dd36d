#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry report_verb();

}  // namespace heed::cli
