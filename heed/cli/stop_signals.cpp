#include "heed/cli/stop_signals.h"

#include <atomic>
#include <csignal>
#include <thread>

namespace heed::cli {
namespace {

std::atomic<bool> listening = false, stop_asked = false;

}  // namespace

void watch_signals() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &both, nullptr);  // other threads inherit it
  std::thread([both] {
    for (;;) {
      int signal = 0;
      if (sigwait(&both, &signal) != 0) continue;
      if (listening && !stop_asked.exchange(true)) continue;
      // What it would have done without us: end the program, or nothing where it is ignored.
      pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
      std::raise(signal);
      pthread_sigmask(SIG_BLOCK, &both, nullptr);
    }
  }).detach();
}

StopSignals::StopSignals() {
  stop_asked = false;
  listening = true;
}

StopSignals::~StopSignals() { listening = false; }

bool StopSignals::asked() { return stop_asked; }

}  // namespace heed::cli
