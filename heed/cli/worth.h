#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry worth_verb();

}  // namespace heed::cli
