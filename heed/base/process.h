// What the operating system says about this process.
#pragma once

#include <cstdint>

namespace heed {

int64_t resident_bytes();       // now
int64_t peak_resident_bytes();  // the most since the start, or since reset_peak_resident()
// Starts the peak anew at what is resident now; false where the kernel does not offer it.
bool reset_peak_resident();
int64_t available_memory();  // what may still be taken: the machine's and the cgroup's limit

}  // namespace heed
