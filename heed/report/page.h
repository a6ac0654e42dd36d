// The page that shows a document: one HTML file with script and style inside, embedded in the program.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/fields.h"

namespace heed::report {

// As built from web/, without a document: it loads one from the server it came from.
std::string_view empty_page();

// With the document inside, to be opened from disk.
std::string page_with(const Json& document);
// Whether a text is such a page, of this version or another.
bool is_page(std::string_view text);

}  // namespace heed::report
