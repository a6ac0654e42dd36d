#include "heed/base/error.h"

namespace heed {

void assertion_failed(const char* condition, const char* file, int line) {
  throw AssertionFailed(
      text(file, ":", line, ": assertion failed: ", condition, " (an error in heed, please report it)"));
}

}  // namespace heed
