// A file read at random offsets. Unlike with a mapping, what was read does not stay in the process's
// memory: the kernel may map a MiB around every byte that is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace heed {

class FileReader {
 public:
  FileReader() = default;
  // Throws an Error that says what is wrong with the path.
  explicit FileReader(const std::filesystem::path& path);
  ~FileReader();
  FileReader(FileReader&& other) noexcept { *this = std::move(other); }
  FileReader& operator=(FileReader&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    return *this;
  }

  int64_t size() const { return size_; }
  // Fills `to` with the bytes at `begin`; may be called by several threads. Throws if the file has become
  // shorter.
  void read(int64_t begin, std::span<std::byte> to) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace heed
