// What every run writes down about the program and the machine it ran on, in its run.json.
#pragma once

#include "heed/base/fields.h"

namespace heed::cli {

Json run_record();

}  // namespace heed::cli
