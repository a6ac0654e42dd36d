// What the system says when a call fails, and a way out where there is one.
#pragma once

#include <string>

#include "heed/base/error.h"

namespace heed {

// "No space left on device; free some space and run the same command again", from an errno.
std::string system_reason(int number);

// "what: reason". A path that makes no sense is wrong use; a disk, a right or a limit is a failure.
Error system_failure(const std::string& what, int number);

}  // namespace heed
