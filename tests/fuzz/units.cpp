// Counts, sizes and times as users write them (base/units.h).
#include "heed/base/units.h"

#include <cmath>

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const std::string written(input);
  fuzz::answers([&] {
    const int64_t count = parse_count(written, "count");
    fuzz::law(count >= 0, "counts are not negative");
    fuzz::law(!format_count(static_cast<double>(count)).empty(), "counts can be shown");
  });
  fuzz::answers([&] {
    const int64_t bytes = parse_bytes(written, "bytes");
    fuzz::law(bytes >= 0, "sizes are not negative");
    fuzz::law(!format_bytes(bytes).empty(), "sizes can be shown");
  });
  fuzz::answers([&] {
    const double seconds = parse_seconds(written, "seconds");
    fuzz::law(std::isfinite(seconds) && seconds >= 0, "times are finite and not negative");
    fuzz::law(!format_seconds(seconds).empty(), "times can be shown");
  });
}
