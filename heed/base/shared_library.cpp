#include "heed/base/shared_library.h"

#include <dlfcn.h>

#include "heed/base/error.h"

namespace heed {

SharedLibrary::SharedLibrary(const std::string& soname)
    : soname_(soname), handle_(dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  const std::string reason = dlerror();
  // The loader's words for mmap that failed.
  const bool memory = reason.find("failed to map") != std::string::npos ||
                      reason.find("cannot allocate") != std::string::npos ||
                      reason.find("cannot map") != std::string::npos;
  problem_ = memory ? text("there is not enough memory to load the library ", soname_, " (", reason, ")")
                    : text("the library ", soname_, " cannot be loaded (", reason,
                           "); install the Debian package that has it");
}

void* SharedLibrary::symbol(const char* name) {
  void* found = handle_ ? dlsym(handle_, name) : nullptr;
  if (handle_ && !found)
    problem_ = text("the library ", soname_, " has no function ", name, "; another version of it is needed");
  return found;
}

}  // namespace heed
