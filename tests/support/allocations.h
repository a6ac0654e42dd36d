// Counts what the program that links it allocates with new.
#pragma once

#include <cstdint>

namespace heed::test {

int64_t allocations();

}  // namespace heed::test
