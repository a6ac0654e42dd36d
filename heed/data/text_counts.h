// How much text some tokens stand for, which turns a loss per token into bits per byte. Models with different
// vocabularies can only be compared by those.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heed::data {

// The most tokens that may stand for unknown words: one in a thousand.
//
// A model only says that there is such a word, in a few bits; to spell it would take about 30, and a word
// has about 6 bytes. So a share u of them makes bits per byte too low by about 5u: at this limit by 0.005, in
// the third decimal.
inline constexpr double kMostUnknown = 1e-3;

struct TextCounts {
  int64_t tokens = 0, bytes = 0;
  int64_t unknown = 0;  // tokens that stand for words which the vocabulary lacks
  bool folded = false;  // tokens do not tell capital letters and accents

  double bytes_per_token() const;  // 0 if there is no text
  double unknown_share() const;    // of the tokens
  // Whether bits per byte say anything: there is a text, and the tokens tell all of it but a few words.
  bool comparable() const { return tokens > 0 && !folded && unknown_share() <= kMostUnknown; }
  // Nothing if they say nothing.
  std::optional<double> bits_per_byte(double nats_per_token) const;
  // "5.20% of the tokens are unknown words".
  std::string unknown_words() const;
  // Why it is not comparable: that, or "capital letters and accents are not in the tokens".
  std::string what_is_missing() const;
};

}  // namespace heed::data
