// A loss per token as people compare it.
#pragma once

#include <string>

#include "heed/data/text_counts.h"

namespace heed::cli {

// "1.2345 bpc" of characters, "ppl 12.34" of other tokens; with "(1.234 bits per byte)" if the
// text is given, or why there are none.
std::string format_loss(double nats, bool bits, const data::TextCounts& counts = {});

// "1.2345 bits per byte", or "no bits per byte, since 5.20% of the tokens are unknown words". A trace of
// those is stated as well.
std::string format_bits_per_byte(double nats, const data::TextCounts& counts, int digits);

}  // namespace heed::cli
