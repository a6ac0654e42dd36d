// A library that is loaded when it is first needed: linked in, it would cost every process several MiB,
// whether it is used or not.
#pragma once

#include <string>

namespace heed {

class SharedLibrary {
 public:
  // By its soname. It stays loaded. If it cannot be, `problem` says why and what to do.
  explicit SharedLibrary(const std::string& soname);

  const std::string& problem() const { return problem_; }  // empty: it is loaded
  // A function that the library has; null if there is a problem.
  template <class Function>
  Function* function(const char* name) {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name);

  std::string soname_, problem_;
  void* handle_;
};

}  // namespace heed
