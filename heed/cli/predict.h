#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry predict_verb();

}  // namespace heed::cli
