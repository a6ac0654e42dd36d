#include "heed/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <streambuf>
#include <vector>

#include "heed/base/system_error.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

// Streams to a file. Keeps the reason of a failed write: the stream only says that one failed.
class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(int file) : file_(file), block_(1 << 16) {
    setp(block_.data(), block_.data() + block_.size());
  }
  int reason() const { return reason_; }  // 0: none failed

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                           : sputc(traits_type::to_char_type(c));
  }
  int sync() override {
    const bool written = write(pbase(), pptr() - pbase());
    setp(block_.data(), block_.data() + block_.size());
    return written ? 0 : -1;
  }
  std::streamsize xsputn(const char* from, std::streamsize size) override {
    if (size <= epptr() - pptr()) return std::streambuf::xsputn(from, size);
    return sync() == 0 && write(from, size) ? size : 0;
  }

 private:
  bool write(const char* from, std::streamsize size) {
    while (size > 0 && reason_ == 0) {
      const ssize_t count = ::write(file_, from, static_cast<size_t>(size));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) reason_ = count < 0 ? errno : ENOSPC;
      from += std::max<ssize_t>(count, 0), size -= std::max<ssize_t>(count, 0);
    }
    return reason_ == 0;
  }
  int file_, reason_ = 0;
  std::vector<char> block_;
};

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.value() < 0) throw path_error(path.string() + ": cannot be read", errno);
  struct stat status {};
  if (::fstat(file.value(), &status) != 0) throw path_error(path.string() + ": cannot be read", errno);
  if (!S_ISREG(status.st_mode)) throw usage_error(path.string(), ": is not a file");
  size_ = status.st_size;
  if (size_ == 0) return;
  void* memory = ::mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (memory == MAP_FAILED) throw system_error(path.string(), ": cannot be mapped: ", system_reason(errno));
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
    throw system_error(path.string(), ": cannot be synced to disk: ", system_reason(errno));
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& fill) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path beside = path.string() + text(".", ::getpid(), ".tmp");
  try {
    {
      const Descriptor file(beside, O_WRONLY | O_CREAT | O_TRUNC);
      if (file.value() < 0) throw system_error(path.string(), ": cannot be written: ", system_reason(errno));
      FileBuffer buffer(file.value());
      std::ostream out(&buffer);
      fill(out);
      out.flush();
      if (buffer.reason() != 0)
        throw system_error(path.string(),
                           ": could not be written completely: ", system_reason(buffer.reason()));
      HEED_ASSERT(out.good());
      if (::fsync(file.value()) != 0)
        throw system_error(path.string(), ": cannot be synced to disk: ", system_reason(errno));
    }
    std::error_code error;
    fs::rename(beside, path, error);
    if (error) throw system_error(path.string(), ": cannot be renamed: ", system_reason(error.value()));
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
    throw system_error(pattern, ": a temporary folder cannot be created: ", std::strerror(errno));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace heed
