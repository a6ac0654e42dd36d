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

// The groups as they are written, none of them empty; letters without parentheses, up to a blank, are a
// group too. Throws an Error that points at the character that cannot be read.
struct ArchGroup {
  std::string letters;
  size_t count;
};
std::vector<ArchGroup> arch_groups(const std::string& arch);
// The flat form, one letter per block.
std::string parse_arch(const std::string& arch);
// Blocks that repeat: `count` repetitions of the `size` blocks that start at `begin`. A kind may be a letter
// or finer.
struct Repeat {
  size_t begin, size, count;
};
std::vector<Repeat> group_repeats(const std::u32string& kinds);
// The same for the blocks of `arch`, never across a part of a group that was written: "rf sf sf" is one rf
// and two sf.
std::vector<Repeat> written_repeats(const std::string& arch, const std::u32string& kinds);
// A short grouped form of flat letters; parse_arch returns the letters.
std::string format_arch(const std::string& letters);

}  // namespace heed::spec
