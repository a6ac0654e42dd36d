// Errors and failed assertions.
//
// Wrong input throws `Error`: what was asked, what was found, a way out. Wrong code trips HEED_ASSERT, which
// throws too (`AssertionFailed`), so that `main` can say what happened and nothing ever aborts.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace heed {

// What went wrong, for callers that treat kinds differently; `main` gives each kind its exit code.
enum class ErrorKind {
  kUsage,        // the request is wrong as written: a flag, a recipe, shapes that do not match
  kDamaged,      // a file or a model does not hold what heed wrote there
  kSystem,       // the machine refused: memory, disk, permissions, limits, another process
  kDiverged,     // the loss or the gradients of a training are not finite
  kInfeasible,   // nothing fits the limits
  kInterrupted,  // the user asked to stop
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

class AssertionFailed : public std::logic_error {
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

template <class... Parts>
Error usage_error(const Parts&... parts) {
  return Error(ErrorKind::kUsage, text(parts...));
}
template <class... Parts>
Error damaged_error(const Parts&... parts) {
  return Error(ErrorKind::kDamaged, text(parts...));
}
template <class... Parts>
Error system_error(const Parts&... parts) {
  return Error(ErrorKind::kSystem, text(parts...));
}
template <class... Parts>
Error diverged_error(const Parts&... parts) {
  return Error(ErrorKind::kDiverged, text(parts...));
}
template <class... Parts>
Error infeasible_error(const Parts&... parts) {
  return Error(ErrorKind::kInfeasible, text(parts...));
}
template <class... Parts>
Error interrupted_error(const Parts&... parts) {
  return Error(ErrorKind::kInterrupted, text(parts...));
}

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace heed

#define HEED_ASSERT(condition) \
  ((condition) ? void() : ::heed::assertion_failed(#condition, __FILE__, __LINE__))
