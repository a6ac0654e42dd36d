// Where the profile of this device is kept, so that searches need not measure again.
#pragma once

#include <filesystem>
#include <string>

namespace heed::cli {

// `given` if it is not empty; else HEED_PROFILE, or a file in the user's cache, whose folder is created.
std::filesystem::path profile_path(const std::string& given);

}  // namespace heed::cli
