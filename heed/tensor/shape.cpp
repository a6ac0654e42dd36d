#include "heed/tensor/shape.h"

#include "heed/base/error.h"

namespace heed {

Shape::Shape(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank)
    throw usage_error("a shape has at most ", kMaxRank, " dimensions, ", dims.size(), " given");
  for (int64_t d : dims) {
    if (d < 0) throw usage_error("a dimension cannot be negative: ", d);
    dims_[rank_++] = d;
  }
  elements();  // refuses what overflows
}

int64_t Shape::elements() const { return elements_before(rank_); }

int64_t Shape::elements_before(int axis) const {
  int64_t count = 1;
  for (int i = 0; i < axis; ++i) {
    // Well below 64 bits: sums of bytes over a whole graph must not overflow.
    if (__builtin_mul_overflow(count, dims_[i], &count) || count > kMostElements)
      throw usage_error("shape ", str(), " has more elements than any machine holds");
  }
  return count;
}

int64_t Shape::elements_after(int axis) const {
  int64_t count = 1;
  for (int i = axis + 1; i < rank_; ++i) count *= dims_[i];
  return count;
}

Shape Shape::with_dim(int i, int64_t size) const {
  Shape changed = *this;
  changed.dims_[i < 0 ? i + rank_ : i] = size;
  return changed;
}

std::string Shape::str() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) out += (i ? ", " : "") + std::to_string(dims_[i]);
  return out + "]";
}

}  // namespace heed
