// Errors and broken beliefs.
//
// Wrong input throws `Error`: what was asked, what was found, a way out. Wrong code trips HEED_ASSERT, which
// throws too (`BrokenBelief`), so that `main` can say what happened and nothing ever aborts.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace heed {

// Exit codes of the program; `main` turns an exception into one of them.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kInfeasible = 3, kInterrupted = 130 };

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, ExitCode code = kFailed) : std::runtime_error(what), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

class BrokenBelief : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// "a", 3, " b" -> "a3 b". For messages only: it is slow and does not matter there.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// A run that could not be done: a file, a machine, a number that went wrong.
template <class... Parts>
Error failure(const Parts&... parts) {
  return Error(text(parts...), kFailed);
}

// A request that makes no sense as written: a flag, a recipe, shapes that do not fit.
template <class... Parts>
Error usage_error(const Parts&... parts) {
  return Error(text(parts...), kUsage);
}

[[noreturn]] void broken_belief(const char* belief, const char* file, int line);

}  // namespace heed

#define HEED_ASSERT(belief) ((belief) ? void() : ::heed::broken_belief(#belief, __FILE__, __LINE__))
