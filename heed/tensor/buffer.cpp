#include "heed/tensor/buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/units.h"

namespace heed {
namespace {

constexpr int64_t kHugePage = 2 << 20;

}  // namespace

Buffer::Buffer(int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  // Only whole huge pages are backed by one, so the mapping begins on such a boundary: map a little more, cut
  // the ends.
  const bool huge = bytes >= kHugePage;
  const int64_t mapped = align_up(bytes, 4096) + (huge ? kHugePage : 0);
  void* raw = mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    throw system_error("memory: ", format_bytes(bytes), " requested, the system refused (",
                       std::strerror(errno), "); close other programs or choose a smaller model or batch");
  }
  auto* start = static_cast<std::byte*>(raw);
  if (huge) {
    const int64_t skip =
        align_up(reinterpret_cast<int64_t>(start), kHugePage) - reinterpret_cast<int64_t>(start);
    if (skip > 0) munmap(start, static_cast<size_t>(skip));
    start += skip;
    if (kHugePage - skip > 0) munmap(start + align_up(bytes, 4096), static_cast<size_t>(kHugePage - skip));
    madvise(start, static_cast<size_t>(align_up(bytes, 4096)), MADV_HUGEPAGE);
  }
  data_ = start;
}

Buffer::~Buffer() {
  if (data_) munmap(data_, static_cast<size_t>(align_up(bytes_, 4096)));
}

}  // namespace heed
