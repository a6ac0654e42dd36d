#include "heed/spec/shared_folder.h"

#include <cstdlib>

namespace heed::spec {

namespace fs = std::filesystem;

fs::path shared_folder(const std::string& name, const char* variable) {
  if (const char* elsewhere = std::getenv(variable)) return elsewhere;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "heed" / name;
  return fs::is_directory(installed, error) ? installed : fs::path(HEED_SOURCE_DIR) / name;
}

}  // namespace heed::spec
