// JSON that others wrote: files, flags, cells of tables.
#pragma once

#include <string_view>

#include "heed/base/fields.h"

namespace heed {

// Throws an Error that says from where on the text is not JSON; callers add what it was to be. Refused too:
// zero bytes, which the library takes for the end of the text, numbers that no double holds, and brackets
// within brackets beyond kDeepestJson: values are shown, copied and compared by recursion, and a hostile file
// would use up the stack.
Json parse_json(std::string_view text);

inline constexpr int kDeepestJson = 200;

}  // namespace heed
