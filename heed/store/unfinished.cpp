#include "heed/store/unfinished.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "heed/base/files.h"
#include "heed/base/system_error.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

fs::path temporary_name(const fs::path& target) { return target.string() + text(".", ::getpid(), ".tmp"); }

// A descriptor that holds the lock, or -1 if the folder is missing or another process holds it.
int try_lock(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat locked {
  }, named{};
  // Between opening and locking, another process may have removed the folder as a leftover.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &locked) == 0 &&
      ::stat(folder.c_str(), &named) == 0 && locked.st_ino == named.st_ino)
    return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

Unfinished::Unfinished(const fs::path& target) : target_(target), path_(temporary_name(target)) {
  constexpr int kAttempts = 10;
  for (int attempt = 0; attempt < kAttempts && lock_ < 0; ++attempt) {
    if (::mkdir(path_.c_str(), 0777) != 0) {
      if (errno != EEXIST) throw system_error(path_.string(), ": cannot be created: ", system_reason(errno));
      remove_abandoned(path_);  // an earlier process had the same number
      continue;
    }
    lock_ = try_lock(path_);
  }
  if (lock_ < 0) throw system_error(path_.string(), ": is being written by another process");
}

Unfinished::~Unfinished() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  ::close(lock_);
}

void Unfinished::finish() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  sync_to_disk(path_);
  // Exchanging the names leaves no moment without the old or the new folder. If the file system cannot, the
  // old one is removed first.
  const bool exchanged =
      ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
  if (!exchanged) {
    if (fs::exists(target_)) retire(target_);
    std::error_code error;
    fs::rename(path_, target_, error);
    if (error) throw system_error(target_.string(), ": cannot be renamed: ", system_reason(error.value()));
  }
  sync_to_disk(folder);
  std::error_code ignored;
  fs::remove_all(path_, ignored);  // what had the name before
  path_.clear();
}

bool is_unfinished_name(const fs::path& path) {
  const std::string process = path.stem().extension();  // ".123" of "name.123.tmp"
  return path.extension() == ".tmp" && process.size() > 1 &&
         process.find_first_not_of("0123456789", 1) == std::string::npos;
}

bool remove_abandoned(const fs::path& path) {
  const int lock = try_lock(path);
  if (lock < 0) return false;
  std::error_code error;
  fs::remove_all(path, error);
  ::close(lock);
  return !error;
}

void retire(const fs::path& path) {
  const fs::path nameless = temporary_name(path.string() + ".old");
  const int lock = try_lock(path);  // so that no other process removes it as a leftover too
  std::error_code error;
  fs::remove_all(nameless, error);
  fs::rename(path, nameless, error);
  if (!error) fs::remove_all(nameless, error);
  if (lock >= 0) ::close(lock);
  if (error) throw system_error(path.string(), ": cannot be removed: ", system_reason(error.value()));
}

}  // namespace heed::store
