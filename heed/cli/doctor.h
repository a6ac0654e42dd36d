#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry doctor_verb();

}  // namespace heed::cli
