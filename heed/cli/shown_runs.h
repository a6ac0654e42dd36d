// The runs that a page shows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::cli {

// As they were named, each once. A search or a worth run gets the device's profile beside it: the one that is
// named, or the user's if there is one. Throws if one does not exist.
std::vector<std::filesystem::path> shown_runs(const std::vector<std::string>& named,
                                              const std::string& profile, const std::string& verb);

}  // namespace heed::cli
