#include "heed/cli/user_profile.h"

#include <cstdlib>

#include "heed/base/error.h"

namespace heed::cli {

std::filesystem::path profile_path(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* file = std::getenv("HEED_PROFILE")) return file;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (!cache && !home)
    throw usage_error("neither HOME nor XDG_CACHE_HOME is set; name a file with --profile");
  const std::filesystem::path folder =
      (cache ? std::filesystem::path(cache) : std::filesystem::path(home) / ".cache") / "heed";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw system_error("cannot create ", folder.string(), ": ", error.message(),
                       "; name a file with --profile");
  return folder / "device.db";
}

}  // namespace heed::cli
