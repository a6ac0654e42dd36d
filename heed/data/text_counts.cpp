#include "heed/data/text_counts.h"

#include <cstdio>
#include <numbers>

namespace heed::data {

double TextCounts::bytes_per_token() const {
  return tokens > 0 ? static_cast<double>(bytes) / static_cast<double>(tokens) : 0;
}

double TextCounts::unknown_share() const {
  return tokens > 0 ? static_cast<double>(unknown) / static_cast<double>(tokens) : 0;
}

std::optional<double> TextCounts::bits_per_byte(double nats_per_token) const {
  if (!comparable()) return std::nullopt;
  return nats_per_token / std::numbers::ln2 / bytes_per_token();
}

std::string TextCounts::unknown_words() const {
  char sentence[80];
  std::snprintf(sentence, sizeof sentence, "%.2f%% of the tokens are unknown words", 100 * unknown_share());
  return sentence;
}

std::string TextCounts::what_is_missing() const {
  return folded ? "capital letters and accents are not in the tokens" : unknown_words();
}

}  // namespace heed::data
