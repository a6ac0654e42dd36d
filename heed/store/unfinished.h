// A folder being written under a temporary name, locked for as long as its process works at it. One that
// nobody locks is a leftover. The lock and not the process number tells: numbers are used again, and
// containers begin to count from 1 each time.
#pragma once

#include <filesystem>

namespace heed::store {

class Unfinished {
 public:
  // Makes `target`.<process>.tmp, empty.
  explicit Unfinished(const std::filesystem::path& target);
  ~Unfinished();  // removes what is not finished
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives the folder its name, for good. What had that name before is replaced.
  void finish();

 private:
  std::filesystem::path target_, path_;
  int lock_ = -1;
};

bool is_unfinished_name(const std::filesystem::path& path);

// Removes an unfinished folder whose process is gone; false if it is alive, or the folder cannot be removed.
bool remove_abandoned(const std::filesystem::path& path);

// Removes a folder in one step as seen from outside: it loses its name first.
void retire(const std::filesystem::path& path);

}  // namespace heed::store
