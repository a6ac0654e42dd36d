// What the operating system says about this process.
#pragma once

#include <cstdint>

namespace heed {

int64_t resident_bytes();       // now
int64_t peak_resident_bytes();  // the most since the start
int64_t available_memory();     // what may still be allocated, by the machine's and the control group's limit

}  // namespace heed
