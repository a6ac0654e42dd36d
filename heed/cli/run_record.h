// What every run records about the program and the machine, in its run.json.
#pragma once

#include "heed/base/fields.h"

namespace heed::cli {

Json run_record();

}  // namespace heed::cli
