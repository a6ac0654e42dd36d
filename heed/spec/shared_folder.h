// Files installed with heed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::spec {

// The folder of that name: from the environment `variable` unless that is empty, else ../share/heed relative
// to the program if it is installed, else in the sources it was built from.
std::filesystem::path shared_folder(const std::string& name, const char* variable);
// Sorted names of the files with this extension, without the extension; empty if the folder does not exist.
std::vector<std::string> names_in(const std::filesystem::path& folder, const std::string& extension);

}  // namespace heed::spec
