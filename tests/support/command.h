// Runs the heed program as a user would.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace heed::test {

struct Outcome {
  int code = -1;
  std::string out;     // standard output
  std::string output;  // that, and standard error behind it
};

inline Outcome shell(const std::string& line) {
  Outcome outcome;
  std::string errors = std::filesystem::temp_directory_path() / "heed-stderr-XXXXXX";
  const int file = mkstemp(errors.data());
  if (file < 0) return outcome;
  close(file);
  FILE* pipe = popen(("{ " + line + "\n} 2>" + errors).c_str(), "r");
  if (pipe) {
    std::array<char, 4096> buffer;
    while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
      outcome.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::ifstream from(errors);
    outcome.output = outcome.out + std::string(std::istreambuf_iterator<char>(from), {});
  }
  std::remove(errors.c_str());
  return outcome;
}

inline Outcome heed(const std::string& arguments, const std::string& environment = "") {
  return shell(environment + " " HEED_PROGRAM " " + arguments);
}

inline bool contains(const Outcome& outcome, const std::string& part) {
  return outcome.output.find(part) != std::string::npos;
}

// The program at work while the test goes on.
class Child {
 public:
  // `before` is for the shell that becomes the program.
  Child(const std::string& arguments, const std::string& log, const std::string& before = "")
      : line_(before + "\nexec " HEED_PROGRAM " " + arguments + " > " + log + " 2>&1"), pid_(fork()) {
    if (pid_ != 0) return;
    execl("/bin/sh", "sh", "-c", line_.c_str(), nullptr);
    _exit(127);
  }
  pid_t pid() const { return pid_; }
  void send(int signal) const { kill(pid_, signal); }
  int status() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  std::string line_;
  pid_t pid_;
};

}  // namespace heed::test
