// Files: read by mapping, written so that a reader finds the old content or the new, never half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

// A file as memory, read-only. Pages come in as they are touched and may go again: a large file needs little.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws an Error that says what is wrong with the path: missing, a folder, not readable.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  const std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), static_cast<size_t>(size_)}; }
  // Says that bytes [begin, end) were read and need not be kept in memory.
  void forget(int64_t begin, int64_t end) const;

 private:
  const std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

// Writes beside the file, makes sure the bytes are on the disk, then takes the name. An Error (disk full, no
// permission) leaves what was there before.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill);
void write_file(const std::filesystem::path& path, std::string_view content);

// Makes what was written to a file, or the names in a folder, last.
void sync_to_disk(const std::filesystem::path& path);

// A folder of its own, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace heed
