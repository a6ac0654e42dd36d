#include "heed/cli/loss_units.h"

#include <cmath>
#include <cstdio>
#include <numbers>

namespace heed::cli {

std::string format_loss(double nats, bool bits, double bytes_per_token) {
  char line[80];
  if (bits) {
    std::snprintf(line, sizeof line, "%.4f bpc", nats / std::numbers::ln2);
  } else if (bytes_per_token > 0) {
    std::snprintf(line, sizeof line, "ppl %.2f (%.3f bits per byte)", std::exp(nats),
                  nats / std::numbers::ln2 / bytes_per_token);
  } else {
    std::snprintf(line, sizeof line, "ppl %.2f", std::exp(nats));
  }
  return line;
}

}  // namespace heed::cli
