#include "heed/base/units.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

std::string with_unit(double value, const char* unit) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, value >= 100 ? "%.0f %s" : "%.1f %s", value, unit);
  return buffer;
}

using Unit = std::pair<const char*, double>;

double parse(const std::string& written, const std::string& what, std::span<const Unit> units,
             const char* example) {
  char* end = nullptr;
  const double number = std::strtod(written.c_str(), &end);
  if (end != written.c_str() && number >= 0) {
    while (*end == ' ') ++end;
    const std::string_view unit =
        std::string_view(written).substr(static_cast<size_t>(end - written.c_str()));
    for (const auto& [name, factor] : units) {
      if (unit == name && std::isfinite(number * factor)) return number * factor;
    }
  }
  throw usage_error(what, ": '", written, "' was given; write ", example);
}

}  // namespace

std::string format_plural(int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

int64_t parse_count(const std::string& written, const std::string& what) {
  constexpr Unit kUnits[] = {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"G", 1e9}};
  constexpr const char* kExample = "a whole number from 0 on, such as 5000, 300K, 2.5M or 1B";
  const double value = parse(written, what, kUnits, kExample), whole = std::round(value);
  // 2.3M is a whole number though 2.3 has no exact double.
  if (std::abs(value - whole) > 1e-9 * value || whole >= 0x1p63)
    throw usage_error(what, ": '", written, "' was given; write ", kExample);
  return static_cast<int64_t>(whole);
}

int64_t parse_bytes(const std::string& written, const std::string& what) {
  constexpr Unit kUnits[] = {{"", 1},         {"B", 1},        {"k", 1e3},     {"kB", 1e3}, {"K", 1e3},
                             {"KB", 1e3},     {"M", 1e6},      {"MB", 1e6},    {"G", 1e9},  {"GB", 1e9},
                             {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
  const double value =
      parse(written, what, kUnits, "a size such as 48MiB, 500MB or 2GiB; a number alone is bytes");
  return static_cast<int64_t>(std::min(std::floor(value), 0x1p62));
}

double parse_seconds(const std::string& written, const std::string& what) {
  constexpr Unit kUnits[] = {{"", 1},   {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                             {"m", 60}, {"min", 60},  {"h", 3600}};
  return parse(written, what, kUnits, "a time such as 500ms, 90s, 5m or 1.5h; a number alone is seconds");
}

std::string format_bytes(int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? text(bytes, " B") : with_unit(value, units[unit]);
}

std::string format_count(double count) {
  constexpr Unit kUnits[] = {{"T", 1e12}, {"B", 1e9}, {"M", 1e6}, {"k", 1e3}};
  for (const auto& [name, factor] : kUnits) {
    if (std::abs(count) >= factor) return with_unit(count / factor, name);
  }
  return count == std::floor(count) ? text(count) : text(std::round(10 * count) / 10);
}

std::string format_score(double score) {
  if (std::abs(score) >= 1000) return format_count(score);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", score);
  return digits;
}

std::string format_flops(double operations) {
  constexpr Unit kUnits[] = {{"EFLOP", 1e18}, {"PFLOP", 1e15}, {"TFLOP", 1e12},
                             {"GFLOP", 1e9},  {"MFLOP", 1e6},  {"kFLOP", 1e3}};
  for (const auto& [name, factor] : kUnits) {
    if (operations >= factor) return with_unit(operations / factor, name);
  }
  return text(operations, " FLOP");
}

std::string format_seconds(double seconds) {
  if (seconds <= 0) return "0 s";
  if (seconds < 1e-3) return with_unit(seconds * 1e6, "us");
  if (seconds < 1) return with_unit(seconds * 1e3, "ms");
  if (seconds < 120) return with_unit(seconds, "s");
  if (seconds >= 1e15) return with_unit(seconds, "s");  // beyond 2^63 it would not fit an integer
  char buffer[64];
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 3600) {
    std::snprintf(buffer, sizeof buffer, "%lld min %02lld s", whole / 60, whole % 60);
  } else if (whole < 48 * 3600) {
    std::snprintf(buffer, sizeof buffer, "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  } else {
    std::snprintf(buffer, sizeof buffer, "%lld days", (whole + 43200) / 86400);
  }
  return buffer;
}

}  // namespace heed
