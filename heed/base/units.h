// Numbers as people write and read them: "48MiB", "1.5 s", "124.4 M".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

std::string format_bytes(int64_t bytes);     // 1536 -> "1.5 KiB"
std::string format_count(double count);      // 12443980 -> "12.4 M"
std::string format_seconds(double seconds);  // 0.0123 -> "12.3 ms", 4000 -> "1 h 07 min"

// "48MiB", "2.5GB", "4096" -> bytes; K, M and G are powers of 1000, KiB, MiB and GiB of 1024.
int64_t parse_bytes(std::string_view text);
// "200ms", "1.5s", "10m", "2h", plain numbers are seconds.
double parse_seconds(std::string_view text);

}  // namespace heed
