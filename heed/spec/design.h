// Design rules: architecture strings (arch.h) written from a few numbers, as the papers state them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "heed/base/fields.h"

namespace heed {

// Two readings of the PAR rule. They differ in how the stride between attention blocks is rounded: strict
// keeps all attention within the first two thirds; published gives the strings the authors trained, of which
// (sfff)x7 (f)x8 exceeds them by one block.
enum class DesignRule { kStrict, kPublished };
template <>
struct EnumNames<DesignRule> {
  static constexpr std::pair<DesignRule, const char*> names[] = {{DesignRule::kStrict, "strict"},
                                                                 {DesignRule::kPublished, "published"}};
};

}  // namespace heed

namespace heed::spec {

// Each returns the grouped form, such as (sfff)x6 (f)x8. Throws for numbers out of range and says the
// range.

// Attention and feed-forward interleaved, as flat letters: sfsf...
std::string interleaved(int64_t blocks);
// PAR (Mandava and others 2020): of `layers` blocks one in `p` is attention, at equal distances starting with
// the first block, in the first two thirds. p may be any number of at least 1.
std::string design_par(int64_t layers, double p, DesignRule rule);
// Sandwich (Press and others 2020): s^k (sf)^(pairs - k) f^k.
std::string design_sandwich(int64_t pairs, int64_t k);
// SRU++ (Lei 2021): recurrence in every layer, attention in layers every, 2 every, ... counted from 1; none
// with every = 0.
std::string design_sru(int64_t layers, int64_t every);

}  // namespace heed::spec
