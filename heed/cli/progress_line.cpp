#include "heed/cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "heed/base/clock.h"
#include "heed/base/error.h"
#include "heed/base/units.h"

namespace heed::cli {
namespace {

bool rewrites_lines() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && kind && std::string(kind) != "dumb";
}

// Cut to one row of the terminal: more cannot be rewritten.
std::string fitted(const std::string& line) {
  winsize window{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || line.size() < window.ws_col || window.ws_col == 0)
    return line;
  size_t end = window.ws_col - 1u;
  while (end > 0 && (line[end] & 0xc0) == 0x80) --end;  // never cut inside a character
  return line.substr(0, end);
}

}  // namespace

ProgressLine::~ProgressLine() {
  if (open_) std::fputc('\n', stderr);
}

void ProgressLine::show(const std::string& line, bool last) {
  static const bool terminal = rewrites_lines();
  const double now = now_seconds();
  if (!last && now - shown_ < (terminal ? 0.2 : 10.0)) return;
  shown_ = now;
  open_ = terminal && !last;
  std::fprintf(stderr, terminal ? "\r\033[K%s%s" : "%s%s", (open_ ? fitted(line) : line).c_str(),
               open_ ? "" : "\n");
  std::fflush(stderr);
}

void ProgressLine::count(const std::string& doing, size_t done, size_t all, const std::string& things,
                         double share) {
  if (doing != doing_) doing_ = doing, began_ = now_seconds(), first_share_ = share;
  const double worked = share - first_share_;
  const std::string eta =
      worked > 0 ? ", ETA " + format_seconds((now_seconds() - began_) * (1 - share) / worked) : "";
  show(text(doing, ": ", done, " of ", all, " ", things, eta), done == all);
}

void ProgressLine::count(const std::string& doing, size_t done, size_t all, const std::string& things) {
  count(doing, done, all, things, static_cast<double>(done) / static_cast<double>(all));
}

void ProgressLine::say(const std::string& line) {
  std::fprintf(stderr, "%s%s\n", open_ ? "\r\033[K" : "", line.c_str());
  open_ = false;
}

}  // namespace heed::cli
