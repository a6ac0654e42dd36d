// Files installed with heed.
#pragma once

#include <filesystem>
#include <string>

namespace heed::spec {

// The folder of that name: from the environment `variable` if set, else ../share/heed relative to the program
// if it is installed, else in the sources it was built from.
std::filesystem::path shared_folder(const std::string& name, const char* variable);

}  // namespace heed::spec
