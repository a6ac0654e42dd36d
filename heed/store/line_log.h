// A file of JSON objects, one per line, in the order of time: what a run tells about itself while it goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "heed/base/fields.h"

namespace heed::store {

class LineLog {
 public:
  // Opens the file for more lines, or makes it. The rest of a line that a killed process left is cut off.
  explicit LineLog(const std::filesystem::path& path);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  // Adds a line that other processes can read at once. On a full disk no part of it stays.
  void append(const Json& line);
  // Forgets what was logged after the checkpoint a run goes on from: everything from the first line on whose
  // "step" is larger.
  void cut_after(int64_t step);
  // Everything from the first such line on.
  void cut_from(const std::function<bool(const Json& line)>& first);
  // Makes the lines last even if the machine fails; before a checkpoint that counts on them.
  void sync();

 private:
  void cut_at(int64_t bytes);

  std::filesystem::path path_;
  int file_ = -1;
};

// The lines of such a file; a last line that is not complete is left out.
std::vector<Json> read_lines(const std::filesystem::path& file);
// One after the other, until `line` has enough and returns false. What came before a damaged line was given.
// Returns how many bytes those lines have.
int64_t for_each_line(const std::filesystem::path& file, const std::function<bool(Json)>& line);

}  // namespace heed::store
