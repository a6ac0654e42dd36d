#include "heed/base/system_error.h"

#include <cerrno>
#include <cstring>

namespace heed {
namespace {

const char* way_out(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space and run the same command again";
    case EFBIG:
      return "; lift the limit on the size of files (ulimit -f) and run the same command again";
    case EMFILE:
    case ENFILE:
      return "; allow more of them (ulimit -n) and run the same command again";
    case ENOMEM:
      return "; close other programs, or choose a smaller model or batch";
    case EAGAIN:
      return "; allow more threads or memory (ulimit -u, ulimit -v)";
    case EROFS:
    case EACCES:
    case EPERM:
      return "; use another folder, or get permission to write there";
    case EIO:
      return "; is the disk damaged?";
    default:
      return "";
  }
}

}  // namespace

std::string system_reason(int number) { return text(std::strerror(number), way_out(number)); }

Error path_error(const std::string& what, int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EEXIST:
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG:
      return usage_error(what, ": ", system_reason(number));
    default:
      return system_error(what, ": ", system_reason(number));
  }
}

}  // namespace heed
