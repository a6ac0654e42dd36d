// Why a system call failed, and a way out where there is one.
#pragma once

#include <string>

#include "heed/base/error.h"

namespace heed {

// "No space left on device; free some space and run the same command again", from an errno.
std::string system_reason(int number);

// "what: reason", after a call with a path. A wrong path is a usage error; a full disk, a missing permission
// or a limit is a system error.
Error path_error(const std::string& what, int number);

}  // namespace heed
