// The output and the interruption of every long run on a terminal.
#pragma once

#include "heed/cli/progress_line.h"
#include "heed/cli/stop_signals.h"

namespace heed::cli {

template <class Observer>
class TerminalObserver : public Observer {
 public:
  void note(const std::string& sentence) override { line_.say(sentence); }
  bool stop() override { return StopSignals::asked(); }

 protected:
  ProgressLine line_;
};

}  // namespace heed::cli
