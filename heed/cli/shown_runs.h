// Which runs a page is to show.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::cli {

// As they were named, each once. A search has the device's profile beside it: the one that is named, or the
// user's if there is one. What is not there is an Error.
std::vector<std::filesystem::path> shown_runs(const std::vector<std::string>& named,
                                              const std::string& profile, const std::string& verb);

}  // namespace heed::cli
