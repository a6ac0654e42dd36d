// The version of heed: "0.2.0".
#pragma once

#include <string>

namespace heed {

std::string version();

}  // namespace heed
