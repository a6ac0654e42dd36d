// Hard-wrapped text, such as books at 72 columns, with one line per paragraph.
#pragma once

#include <functional>
#include <string_view>

#include "heed/data/corpus.h"

namespace heed::data {

// Gives `take` the text in pieces. A line end becomes a space if text goes on below it: the next line is not
// empty, not indented (verse, code, the first line of a paragraph) and not an item of a list ("- ", "* ",
// "+ ", "1. ", "1) "). Blanks before such a line end are dropped; everything else stays as it is.
void unwrap(std::string_view text, const std::function<void(std::string_view)>& take);

// Every slice of a reading, as a copy in the system's folder for temporary files that lasts as long as the
// reading. Files stay as they are.
void unwrap(Reading& to);

}  // namespace heed::data
