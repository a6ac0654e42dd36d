#include "heed/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "heed/base/error.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.value() < 0) throw usage_error(path.string(), ": cannot be read: ", std::strerror(errno));
  struct stat status {};
  if (::fstat(file.value(), &status) != 0)
    throw failure(path.string(), ": cannot be read: ", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw usage_error(path.string(), ": is not a file");
  size_ = status.st_size;
  if (size_ == 0) return;
  void* memory = ::mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (memory == MAP_FAILED) throw failure(path.string(), ": cannot be mapped: ", std::strerror(errno));
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), static_cast<size_t>(size_));
}

void MappedFile::forget(int64_t begin, int64_t end) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  begin = begin / page * page;
  if (data_ && begin < end)
    ::madvise(const_cast<std::byte*>(data_) + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
}

void sync_to_disk(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.value() < 0 || ::fsync(file.value()) != 0)
    throw failure(path.string(), ": cannot be made to last: ", std::strerror(errno));
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& fill) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path beside = path.string() + text(".", ::getpid(), ".tmp");
  try {
    errno = 0;
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    if (!out) throw failure(path.string(), ": cannot be written: ", std::strerror(errno));
    fill(out);
    out.close();
    if (!out) throw failure(path.string(), ": could not be written whole: ", std::strerror(errno));
    sync_to_disk(beside);
    std::error_code error;
    fs::rename(beside, path, error);
    if (error) throw failure(path.string(), ": cannot be put in place: ", error.message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw;
  }
  sync_to_disk(folder);
}

void write_file(const fs::path& path, std::string_view content) {
  write_file(path, [&](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "heed-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw failure(pattern, ": no temporary folder can be made: ", std::strerror(errno));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace heed
