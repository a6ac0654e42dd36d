#include "heed/base/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heed/base/system_error.h"

namespace heed {

FileReader::FileReader(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int reason = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw path_error(path.string() + ": cannot be read", reason);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw usage_error(path.string(), ": is not a file");
  }
  size_ = status.st_size;
}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileReader::read(int64_t begin, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = ::pread(descriptor_, to.data(), to.size(), begin);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error(path_.string(), ": cannot be read: ", std::strerror(errno));
    if (count == 0)
      throw damaged_error(path_.string(), ": ends at byte ", begin, "; it was changed while in use");
    begin += count;
    to = to.subspan(static_cast<size_t>(count));
  }
}

}  // namespace heed
