// The header of a safetensors file: what is stored, of which type and shape, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor/dtype.h"

namespace heed::store {

struct StoredType {
  const char* name;  // as in the file: "BF16"
  int64_t size;      // bytes of one number
  // Turns n numbers, at any alignment, into floats; null for types that are not floating point.
  void (*to_f32)(const std::byte* from, int64_t n, float* to);
};
std::span<const StoredType> stored_types();
// The name of heed's type in the format.
std::string stored_name(DType dtype);

struct StoredTensor {
  const StoredType* type = nullptr;
  std::vector<int64_t> shape;
  int64_t elements = 0;
  int64_t begin = 0, end = 0;  // bytes of the data

  // Whether it can be read into a tensor of that type: floating point numbers into f32, others as they are.
  bool fills(DType dtype) const;
  std::string str() const;  // "BF16[4, 256]"
};

struct SafetensorsHeader {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

inline constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
inline constexpr const char* kMetadataKey = "__metadata__";

// Reads and checks everything: known types, sizes that multiply to the bytes given, and ranges that cover
// `data_bytes` without holes or overlap. Throws an Error that begins with `file`.
SafetensorsHeader read_header(std::string_view json, int64_t data_bytes, const std::string& file);

// A name from a file for an error message: quoted, unprintable characters escaped, not too long.
std::string name_in_quotes(const std::string& name);

}  // namespace heed::store
