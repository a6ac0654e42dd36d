// A loss per token as people compare it.
#pragma once

#include <string>

namespace heed::cli {

// "1.2345 bpc" of characters, "ppl 12.34" of other tokens; with "(1.234 bits per byte)" if the bytes
// per token are known.
std::string format_loss(double nats, bool bits, double bytes_per_token = 0);

}  // namespace heed::cli
