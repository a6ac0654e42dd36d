// SIGINT and SIGTERM, as a question that long work asks itself.
#pragma once

namespace heed::cli {

// To be called first thing in the program, before there are other threads. From then on both signals wait for
// a thread of their own and no handler ever runs for them: while oneDNN 2.6 computes a product the stack
// pointer may point at its packed numbers, and whatever a signal pushes there spoils the heap. Files that
// grow beyond a limit or are cut off while they are read end in words instead of silence.
void watch_signals();

// While it lives, the first signal only asks to stop; a second one ends the program at once.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  static bool asked();
};

}  // namespace heed::cli
