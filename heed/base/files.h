// Files: read by mapping, written atomically: a reader finds the old content or the new, never a part.
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

// A file mapped into memory, read-only. Pages are loaded on access and can be evicted again.
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
  // Tells the kernel that bytes [begin, end) need not be kept in memory.
  void forget(int64_t begin, int64_t end) const;

 private:
  const std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

// Writes a temporary file beside it, syncs it to disk, then renames it. On an Error (disk full, no
// permission) the old file stays.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& fill);
void write_file(const std::filesystem::path& path, std::string_view content);

// Syncs a file, or the names in a folder, to disk.
void sync_to_disk(const std::filesystem::path& path);

// A temporary folder, removed with the object.
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
