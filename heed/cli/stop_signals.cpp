#include "heed/cli/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "heed/base/system_error.h"

namespace heed::cli {
namespace {

std::atomic<bool> listening = false, stop_asked = false;
std::atomic<int> code_for_lost_page = 0;  // set before the handler is

// A mapped file has lost the page that is read. The handler cannot return, and the stack pointer may be
// invalid (stop_signals.h): print a message and exit.
void end_for_lost_page(int) {
  constexpr char kWords[] =
      "heed: a file that was being read has become shorter, or its disk fails; restore it and run the same "
      "command again\n";
  static_cast<void>(!::write(STDERR_FILENO, kWords, sizeof kWords - 1));
  ::_exit(code_for_lost_page);
}

[[noreturn]] void listen(const sigset_t& both) {
  for (;;) {
    int signal = 0;
    if (sigwait(&both, &signal) != 0) continue;
    if (listening && !stop_asked.exchange(true)) continue;
    // The default action: end the program, or nothing if the signal is ignored.
    pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
    std::raise(signal);
    pthread_sigmask(SIG_BLOCK, &both, nullptr);
  }
}

}  // namespace

void watch_signals(int lost_page_code) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &both, nullptr);  // other threads inherit it
  std::signal(SIGXFSZ, SIG_IGN);               // if a file grows too large, the write fails with an error
  code_for_lost_page = lost_page_code;
  std::signal(SIGBUS, end_for_lost_page);
  try {
    std::thread([both] { listen(both); }).detach();
  } catch (const std::system_error& error) {
    throw system_error("no memory for another thread, or too many of them: ",
                       system_reason(error.code().value()));
  }
}

StopSignals::StopSignals() {
  stop_asked = false;
  listening = true;
}

StopSignals::~StopSignals() { listening = false; }

bool StopSignals::asked() { return stop_asked; }

}  // namespace heed::cli
