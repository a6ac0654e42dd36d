#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry embed_verb();

}  // namespace heed::cli
