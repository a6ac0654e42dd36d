// Time, for measuring and for progress lines.
#pragma once

#include <chrono>

namespace heed {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace heed
