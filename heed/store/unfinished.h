// A folder being written under a temporary name, locked while its process works on it. An unlocked one is a
// leftover. The lock decides, not the process number: numbers are reused, and containers start from 1 each
// time.
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
  // Renames the folder to its final name, replacing what had that name before.
  void finish();

 private:
  std::filesystem::path target_, path_;
  int lock_ = -1;
};

bool is_unfinished_name(const std::filesystem::path& path);

// Removes an unfinished folder whose process has ended; false if it is alive or the removal fails.
bool remove_abandoned(const std::filesystem::path& path);

// Removes a folder atomically as seen from outside: it is renamed first.
void retire(const std::filesystem::path& path);

}  // namespace heed::store
