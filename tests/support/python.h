// Scripts of tests/oracle: independent answers.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace heed::test {

struct PythonResult {
  int code = -1;
  std::string output;  // both streams

  // Why the script could not even begin: no Python, or no package that it needs (it exits with 3 then). Empty
  // if it did.
  std::string missing() const { return code == 127 || code == 3 ? "Python says: " + output : ""; }
};

// `arguments` go to a shell: "script.py 'a file'". Debian's Python, to which python3-torch belongs.
inline PythonResult run_python(const std::string& arguments) {
  PythonResult result;
  FILE* pipe =
      popen(("/usr/bin/python3 -B " HEED_SOURCE_DIR "/tests/oracle/" + arguments + " 2>&1").c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

// Whether a missing oracle fails a test instead of skipping it: HEED_REQUIRE_ORACLE=1, as in CI.
inline bool oracle_required() {
  const char* wish = std::getenv("HEED_REQUIRE_ORACLE");
  return wish && std::string(wish) == "1";
}

}  // namespace heed::test

// Where `reason` says why there is nothing to compare with, the test is skipped, loudly.
#define HEED_NEEDS_ORACLE(reason)                                       \
  do {                                                                  \
    const std::string why = (reason);                                   \
    if (why.empty()) break;                                             \
    if (::heed::test::oracle_required()) FAIL() << why;                 \
    GTEST_SKIP() << "!! NOT CHECKED: there is no oracle here. " << why; \
  } while (false)
