#include "heed/cli/progress_line.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "heed/base/clock.h"

namespace heed::cli {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

void ask(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

ProgressLine::~ProgressLine() {
  if (open_) std::fputc('\n', stderr);
}

void ProgressLine::show(const std::string& line, bool last) {
  const bool terminal = isatty(STDERR_FILENO);
  const double now = now_seconds();
  if (!last && now - shown_ < (terminal ? 0.2 : 10.0)) return;
  shown_ = now;
  open_ = terminal && !last;
  std::fprintf(stderr, terminal ? "\r\033[K%s%s" : "%s%s", line.c_str(), open_ ? "" : "\n");
  std::fflush(stderr);
}

void ProgressLine::say(const std::string& line) {
  std::fprintf(stderr, "%s%s\n", open_ ? "\r\033[K" : "", line.c_str());
  open_ = false;
}

StopSignals::StopSignals() {
  stop_asked = 0;
  std::signal(SIGINT, ask);
  std::signal(SIGTERM, ask);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopSignals::asked() { return stop_asked != 0; }

}  // namespace heed::cli
