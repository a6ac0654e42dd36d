#include "heed/base/units.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

std::string with_unit(double value, const char* unit) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, value >= 100 ? "%.0f %s" : "%.1f %s", value, unit);
  return buffer;
}

}  // namespace

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
  const std::pair<double, const char*> units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [factor, name] : units) {
    if (std::abs(count) >= factor) return with_unit(count / factor, name);
  }
  return text(count);
}

std::string format_seconds(double seconds) {
  if (seconds <= 0) return "0 s";
  if (seconds < 1e-3) return with_unit(seconds * 1e6, "us");
  if (seconds < 1) return with_unit(seconds * 1e3, "ms");
  if (seconds < 120) return with_unit(seconds, "s");
  char buffer[64];
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 3600) {
    std::snprintf(buffer, sizeof buffer, "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(buffer, sizeof buffer, "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  }
  return buffer;
}

}  // namespace heed
