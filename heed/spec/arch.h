// Architecture strings: a model's body as letters, one per block, such as (sfff)x6 (f)x8.
//
//   arch  = group, { group }            blanks between groups mean nothing
//   group = "(" letters ")" ["x" count] | letter
//
// The Sandwich authors' form is understood as well: pairs with a dot for an absent half, s.sfsf.f.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::spec {

// The flat form, one letter per block. Throws an Error that points at what cannot be read.
std::string parse_arch(const std::string& arch);
// Blocks that repeat: `size` of them from `begin` on stand there `count` times. A kind may be a letter or
// finer.
struct Repeat {
  size_t begin, size, count;
};
std::vector<Repeat> group_repeats(const std::u32string& kinds);
// A short grouped form of flat letters; parse_arch gives the letters back.
std::string format_arch(const std::string& letters);

}  // namespace heed::spec
