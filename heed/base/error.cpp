#include "heed/base/error.h"

namespace heed {

void broken_belief(const char* belief, const char* file, int line) {
  throw BrokenBelief(
      text(file, ":", line, ": assertion failed: ", belief, " (an error in heed, please report it)"));
}

}  // namespace heed
