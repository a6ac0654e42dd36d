// Progress on standard error: one line that is rewritten on a terminal, a plain line now and then elsewhere.
#pragma once

#include <string>

namespace heed::cli {

class ProgressLine {
 public:
  ~ProgressLine();
  void show(const std::string& line, bool last);
  // A line of its own that stays.
  void say(const std::string& line);

 private:
  double shown_ = 0;
  bool open_ = false;  // the cursor stands behind a line that may be rewritten
};

// While it lives, SIGINT and SIGTERM only ask to stop; a second one ends the program at once.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  static bool asked();
};

}  // namespace heed::cli
