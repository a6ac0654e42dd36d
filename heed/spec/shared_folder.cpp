#include "heed/spec/shared_folder.h"

#include <algorithm>
#include <cstdlib>

namespace heed::spec {

namespace fs = std::filesystem;

fs::path shared_folder(const std::string& name, const char* variable) {
  const char* elsewhere = std::getenv(variable);
  if (elsewhere && *elsewhere) return elsewhere;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "heed" / name;
  return fs::is_directory(installed, error) ? installed : fs::path(HEED_SOURCE_DIR) / name;
}

std::vector<std::string> names_in(const fs::path& folder, const std::string& extension) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace heed::spec
