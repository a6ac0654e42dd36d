// A file of JSON objects, one per line, in order of time: the log of a run.
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
  // Opens the file for appending, or creates it. An incomplete line that a killed process left is cut off.
  explicit LineLog(const std::filesystem::path& path);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  // Adds a line that other processes can read at once. On a full disk no part of it remains.
  void append(const Json& line);
  // Removes what was logged after the checkpoint a run resumes from: everything from the first line whose
  // "step" is larger.
  void cut_after(int64_t step);
  // Removes everything from the first such line.
  void cut_from(const std::function<bool(const Json& line)>& first);
  // Syncs the lines to disk, before a checkpoint that relies on them.
  void sync();

 private:
  void cut_at(int64_t bytes);

  std::filesystem::path path_;
  int file_ = -1;
};

// The lines of such a file; a last line that is not complete is left out.
std::vector<Json> read_lines(const std::filesystem::path& file);
// One after the other, until `line` returns false. Lines before a damaged one are passed on. Returns how many
// bytes those lines have.
int64_t for_each_line(const std::filesystem::path& file, const std::function<bool(Json)>& line);

// Reads such a file while it grows, every line once.
class LineReader {
 public:
  explicit LineReader(std::filesystem::path file) : file_(std::move(file)) {}

  // Passes on the lines added since the last call. A run that resumes from a checkpoint truncates its files:
  // then `forget` is called, and all lines are passed on again. Throws for a damaged line with others after
  // it, in every call.
  void read_on(const std::function<void(Json)>& line, const std::function<void()>& forget);

 private:
  std::filesystem::path file_;
  int64_t end_ = 0, lines_ = 0;  // read so far
  std::string last_;             // the last line, to recognise the file
};

}  // namespace heed::store
