#pragma once

#include "heed/cli/verb.h"

namespace heed::cli {

VerbEntry train_verb();

}  // namespace heed::cli
