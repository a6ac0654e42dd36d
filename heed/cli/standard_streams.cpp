#include "heed/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

#include "heed/base/system_error.h"

namespace heed::cli {

void hold_closed_streams() {
  // In this order: each gets the lowest free number.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      static_cast<void>(::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.flush()) return;
  // An earlier failure has left no reason: one more attempt gives it.
  if (errno == 0) static_cast<void>(!::write(STDOUT_FILENO, "\n", 1));
  throw system_error("standard output cannot be written: ", system_reason(errno));
}

}  // namespace heed::cli
