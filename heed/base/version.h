// The version of heed: "0.1.0".
#pragma once

#include <string>

namespace heed {

std::string version();

}  // namespace heed
