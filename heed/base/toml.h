// TOML as JSON, so that settings are read the same way from both.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/fields.h"

namespace heed {

// Errors name `what` and the line. Dates are refused: no setting is one.
Json parse_toml(std::string_view text, const std::string& what);

}  // namespace heed
