// Progress on standard error: one line that is rewritten on a terminal, a plain line now and then elsewhere.
#pragma once

#include <string>

namespace heed::cli {

class ProgressLine {
 public:
  ~ProgressLine();
  void show(const std::string& line, bool last);
  // "doing: done of all things, ETA ..", from the speed since this task began.
  void count(const std::string& doing, size_t done, size_t all, const std::string& things, double share);
  void count(const std::string& doing, size_t done, size_t all, const std::string& things);
  // A separate line that stays.
  void say(const std::string& line);

 private:
  std::string doing_;
  double began_ = 0, first_share_ = 0;
  double shown_ = 0;
  bool open_ = false;  // the cursor is after a line that may be rewritten
};

}  // namespace heed::cli
