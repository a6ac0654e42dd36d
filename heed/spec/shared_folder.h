// Files installed with heed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::spec {

// The folder of that name: from the environment `variable` if set, else ../share/heed relative to the program
// if it is installed, else in the sources it was built from.
std::filesystem::path shared_folder(const std::string& name, const char* variable);
// The names of the files with that extension, without it, sorted; none if there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder, const std::string& extension);

}  // namespace heed::spec
