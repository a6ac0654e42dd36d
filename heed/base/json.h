// JSON from outside: files, flags, cells of tables.
#pragma once

#include <string_view>

#include "heed/base/fields.h"

namespace heed {

// Throws an Error that says where the text stops being JSON; callers add what it should have been. Also
// refused: zero bytes, which the library takes for the end of the text, numbers outside double, and brackets
// nested deeper than kDeepestJson: values are printed, copied and compared by recursion, and a hostile file
// would overflow the stack.
Json parse_json(std::string_view text);

inline constexpr int kDeepestJson = 200;

}  // namespace heed
