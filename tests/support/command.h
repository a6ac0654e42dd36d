// Runs the heed program as a user would.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace heed::test {

struct Outcome {
  int code = -1;
  std::string output;  // standard output and standard error
};

inline Outcome heed(const std::string& arguments, const std::string& environment = "") {
  Outcome outcome;
  FILE* pipe = popen((environment + " " HEED_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline bool contains(const Outcome& outcome, const std::string& part) {
  return outcome.output.find(part) != std::string::npos;
}

}  // namespace heed::test
