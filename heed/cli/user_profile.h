// Where the profile of this device is kept, so that no search need measure again.
#pragma once

#include <filesystem>
#include <string>

namespace heed::cli {

// `given` if it is not empty; else HEED_PROFILE, or a file in the user's cache, whose folder is made.
std::filesystem::path profile_path(const std::string& given);

}  // namespace heed::cli
