// Numbers as people read them: "48.0 MiB", "1.5 s", "12.4 M".
#pragma once

#include <cstdint>
#include <string>

namespace heed {

std::string format_bytes(int64_t bytes);     // 1536 -> "1.5 KiB"
std::string format_count(double count);      // 12443980 -> "12.4 M"
std::string format_seconds(double seconds);  // 0.0123 -> "12.3 ms", 4000 -> "1 h 06 min"

}  // namespace heed
