// Numbers as people read and write them: "48.0 MiB", "1.5 s", "12.4 M"; "3M", "90s".
#pragma once

#include <cstdint>
#include <string>

namespace heed {

std::string format_bytes(int64_t bytes);      // 1536 -> "1.5 KiB"
std::string format_count(double count);       // 12443980 -> "12.4 M", 1557611200 -> "1.6 B"
std::string format_flops(double operations);  // 5.469e15 -> "5.5 PFLOP"
std::string format_score(double score);       // as a count from 1000 on, else 4 digits: -2.14159 -> "-2.142"
std::string format_seconds(double seconds);   // 0.0123 -> "12.3 ms", 4000 -> "1 h 06 min"

std::string format_plural(int64_t count,
                          const std::string& thing);  // (1, "step") -> "1 step", (2, "step") -> "2 steps"

// Reads what a user writes: a number, optionally with a unit. Throws for anything else, negative or not
// finite, with a message that lists the units; `what` names the setting in it.
int64_t parse_count(const std::string& written,
                    const std::string& what);  // "3M" -> 3000000; K M B, and G for B
int64_t parse_bytes(const std::string& written, const std::string& what);   // "48MiB"; K M G, KiB MiB GiB
double parse_seconds(const std::string& written, const std::string& what);  // "5m" -> 300; ms s m h

}  // namespace heed
