// Architecture strings: a model's body as letters, one per block, such as (sfff)x6 (f)x8.
//
//   arch  = group, { group }            spaces between groups are ignored
//   group = "(" letters ")" ["x" count] | letter
//
// The notation of the Sandwich authors is read as well: pairs with a dot for a missing half, s.sfsf.f.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::spec {

// The flat form, one letter per block. Throws an Error that points at the character that cannot be read.
std::string parse_arch(const std::string& arch);
// Blocks that repeat: `count` repetitions of the `size` blocks that start at `begin`. A kind may be a letter
// or finer.
struct Repeat {
  size_t begin, size, count;
};
std::vector<Repeat> group_repeats(const std::u32string& kinds);
// A short grouped form of flat letters; parse_arch returns the letters.
std::string format_arch(const std::string& letters);

}  // namespace heed::spec
