#include "heed/base/units.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

std::string with_unit(double value, const char* unit) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, value >= 100 ? "%.0f %s" : "%.1f %s", value, unit);
  return buffer;
}

struct Unit {
  std::string_view name;
  double factor;
};

template <size_t N>
double parse(std::string_view text, const Unit (&units)[N], const char* what, const char* examples) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  std::string_view unit(end);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (end != copy.c_str() && std::isfinite(value) && value >= 0) {
    for (const Unit& known : units) {
      if (known.name == unit) return value * known.factor;
    }
  }
  throw usage_error("'", copy, "' is not ", what, "; write for instance ", examples);
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

int64_t parse_bytes(std::string_view text) {
  static const Unit units[] = {{"", 1},          {"B", 1},         {"K", 1e3},      {"KB", 1e3},
                               {"M", 1e6},       {"MB", 1e6},      {"G", 1e9},      {"GB", 1e9},
                               {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  return static_cast<int64_t>(parse(text, units, "a size", "48MiB, 2GB or 4096"));
}

double parse_seconds(std::string_view text) {
  static const Unit units[] = {{"", 1},   {"s", 1},    {"ms", 1e-3}, {"us", 1e-6},
                               {"m", 60}, {"min", 60}, {"h", 3600}};
  return parse(text, units, "a time", "20ms, 1.5s or 10m");
}

}  // namespace heed
