// GPT-2's splitter (Radford et al., 2019): words with the space before them, numbers, runs of other signs,
// runs of white space. Merges of the byte-pair encoding never cross these pieces.
//
//     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// Letters and numbers are those of Unicode's general categories L and N, white space is Unicode's
// White_Space. A byte that is not part of valid UTF-8 counts as one "other" sign.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed::data {

// The end of the piece that starts at `begin` < text.size(). To split a whole text, start at 0 and continue
// at each end.
size_t pretoken_end(std::string_view text, size_t begin);

// A position <= `position` at which the text can be cut so that the parts have the pieces of the whole; 0 if
// there is none. `text` is the whole text: a cut inside it is not the end of the text.
size_t pretoken_cut_before(std::string_view text, size_t position);

}  // namespace heed::data
