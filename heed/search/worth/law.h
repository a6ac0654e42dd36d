// The law of worth: the loss of a model after training, in bits per byte, from what its blocks are worth, its
// width D, its vocabulary and the tokens N it was trained on,
//
//   L = E + V + A R^-a (1 + T)^-c + G D^-g N^-h + B N^-b
//
// R is what blocks add to reading the context, T what they add to transforming it. Both are plain sums over
// the blocks, so that the exact search can walk them: weight of the letter * S^s * D^d * N^t, with S the
// parameters of the block per unit of width. Each sum has diminishing returns, and what is transformed must
// have been read. docs/worth.md says what was tried besides.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <string>

#include "heed/base/fields.h"
#include "heed/search/cost.h"

namespace heed::search {

// What the powers are relative to.
inline constexpr double kUsualWidth = 256, kUsualTokens = 1 << 18, kUsualSize = 512;

// The term of the tokens: bits * tokens^-power.
struct TokensTerm {
  double bits = 0, power = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("bits", bits, "after the usual tokens");
    field("power", power, "of the tokens");
  }
};

// The term of the width: bits * width^-power * tokens^-tokens. Narrow models learn more slowly.
struct WidthTerm {
  double bits = 0, power = 0, tokens = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("bits", bits, "at the usual width, after the usual tokens");
    field("power", power, "of the width");
    field("tokens", tokens, "power of the tokens");
  }
};

// The term of the blocks: bits * context sum^-context * (1 + transform sum)^-transform.
struct BlocksTerm {
  double bits = 0, context = 0, transform = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("bits", bits, "where the sums are 1 and 0");
    field("context", context, "power of what reads the context");
    field("transform", transform, "power of what transforms it");
  }
};

// How the sums grow with the tokens.
struct Growth {
  double context = 0, transform = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("context", context, "power of the tokens");
    field("transform", transform, "power of the tokens");
  }
};

// What a block adds to each sum: of the usual size, in a model of the usual width, after the usual tokens.
struct LetterWorth {
  double context = 0, transform = 0;
  double size = 0, width = 0;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("context", context, "to reading the context");
    field("transform", transform, "to transforming it");
    field("size", size, "power of its parameters per unit of width");
    field("width", width, "power of the model's width");
  }
};

// A block as the law sees it.
struct SizedBlock {
  char letter = 0;
  int64_t parameters = 0;
};

// The two sums.
struct Sums {
  double context = 0, transform = 0;
  Sums& operator+=(const Sums& other) {
    context += other.context, transform += other.transform;
    return *this;
  }
};

struct Law {
  double floor = 0;  // E
  BlocksTerm blocks;
  WidthTerm width;
  TokensTerm tokens;
  Growth growth;
  std::map<char, LetterWorth> letters;
  std::map<int64_t, double> vocabulary;  // V, in bits; 0 for others

  Sums worth(int64_t width_of_model, const SizedBlock& block, double tokens_seen) const;
  double bits_per_byte(int64_t width_of_model, int64_t vocabulary_of_model, const Sums& sums,
                       double tokens_seen) const;
};

// Sums in whole units, which are the same in any order: fine enough that rounding is below any measurement,
// coarse enough that equal sums are found.
Worth units_of(const Sums& sums);
Sums sums_of(const Worth& units);

Json to_json(const Law& law);
// Throws if something is missing or is not what it should be; `what` names the source.
Law read_law(const Json& json, const std::string& what);

}  // namespace heed::search
