#include "heed/cli/loss_units.h"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "heed/base/error.h"

namespace heed::cli {

std::string format_loss(double nats, bool bits, const data::TextCounts& counts) {
  char loss[40];
  if (bits) {
    std::snprintf(loss, sizeof loss, "%.4f bpc", nats / std::numbers::ln2);
    return loss;
  }
  std::snprintf(loss, sizeof loss, "ppl %.2f", std::exp(nats));
  if (counts.tokens == 0) return loss;
  return text(loss, " (", format_bits_per_byte(nats, counts, 3), ")");
}

std::string format_bits_per_byte(double nats, const data::TextCounts& counts, int digits) {
  const auto bits = counts.bits_per_byte(nats);
  if (!bits) return text("no bits per byte, since ", counts.what_is_missing());
  char number[40];
  std::snprintf(number, sizeof number, "%.*f bits per byte", digits, *bits);
  return counts.unknown > 0 ? text(number, "; ", counts.unknown_words()) : number;
}

}  // namespace heed::cli
