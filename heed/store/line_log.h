// A file of JSON objects, one per line, in the order of time: what a run tells about itself while it goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
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

// Reads such a file while it grows, every line once.
class LineReader {
 public:
  explicit LineReader(std::filesystem::path file) : file_(std::move(file)) {}

  // Gives the lines that came since the last time. A run that goes on from a checkpoint cuts its files: then
  // `forget` is called, and all lines are given again. A damaged line with others behind it is an Error, this
  // time and the next.
  void read_on(const std::function<void(Json)>& line, const std::function<void()>& forget);

 private:
  std::filesystem::path file_;
  int64_t end_ = 0, lines_ = 0;  // that were read
  std::string last_;             // line, to know the file by
};

}  // namespace heed::store
