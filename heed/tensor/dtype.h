// Types of numbers. heed computes with f32 and i32; the others are for storage.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed {

enum class DType : uint8_t { kF32, kI32, kF16, kBF16, kI8, kU8 };

struct DTypeFacts {
  const char* name;
  int64_t size;  // in bytes
};
inline constexpr DTypeFacts kDTypes[] = {  // in the order of DType
    {"f32", 4}, {"i32", 4}, {"f16", 2}, {"bf16", 2}, {"i8", 1}, {"u8", 1}};

inline int64_t size_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size; }
inline const char* name_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }

}  // namespace heed
