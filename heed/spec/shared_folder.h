// Files that heed came with.
#pragma once

#include <filesystem>
#include <string>

namespace heed::spec {

// The folder of that name: where the environment's `variable` says, else in ../share/heed of the program,
// where it is installed, else in the sources it was built from.
std::filesystem::path shared_folder(const std::string& name, const char* variable);

}  // namespace heed::spec
