// GPT-2's splitter (Radford et al., 2019): words with the space before them, numbers, runs of other signs,
// runs of white space. Merges of the byte-pair encoding never cross these pieces.
//
//     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// Letters and numbers are those of Unicode's general categories L and N, white space is Unicode's
// White_Space. A byte that is no part of valid UTF-8 counts as one "other" sign and stays as it is.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed::data {

// Where the piece ends that begins at `begin` < text.size(). The pieces are those of a whole text: begin at 0
// and go on at each end.
size_t pretoken_end(std::string_view text, size_t begin);

// A position <= `position` at which the text can be cut so that the parts have the pieces of the whole; 0 if
// there is none. `text` is the whole text: an end inside it must not be taken for the end of the text.
size_t pretoken_cut_before(std::string_view text, size_t position);

}  // namespace heed::data
