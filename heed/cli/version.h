// The version of heed and of its libraries.
#pragma once

#include <string>

#include "heed/base/fields.h"
#include "heed/base/version.h"

namespace heed::cli {

std::string commit();        // "1a2b3c4", with "+" if files were changed since; empty if unknown
Json library_versions();     // by name
std::string version_text();  // heed --version

}  // namespace heed::cli
