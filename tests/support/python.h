// Scripts of tests/oracle that need no PyTorch.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace heed::test {

struct PythonResult {
  int code = -1;
  std::string output;

  // Whether the script could not even begin: no Python, or no numpy (the script exits with 3 then). With
  // HEED_REQUIRE_ORACLE=1, as in CI, that is not accepted.
  bool missing() const { return (code == 127 || code == 3) && !std::getenv("HEED_REQUIRE_ORACLE"); }
};

// `arguments` go to a shell: "script.py 'a file'".
inline PythonResult run_python(const std::string& arguments) {
  PythonResult result;
  FILE* pipe =
      popen(("/usr/bin/python3 " HEED_SOURCE_DIR "/tests/oracle/" + arguments + " 2>&1").c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

}  // namespace heed::test
