// SIGINT and SIGTERM, which long work polls.
#pragma once

namespace heed::cli {

// Call it first in the program, before there are other threads. From then on both signals are handled by
// their own thread and no signal handler runs: while oneDNN 2.6 computes a product the stack pointer may
// point at its packed numbers, and a signal frame there would corrupt the heap. Files that grow beyond a
// limit or are truncated while they are read give an error message; after the latter the program exits with
// `lost_page_code`.
void watch_signals(int lost_page_code);

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
