// Tensors by name in one file, in the safetensors format: the header's length in 8 bytes, the header (JSON),
// the numbers. Other programs read and write it; there is no code in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/base/files.h"
#include "heed/store/safetensors_header.h"
#include "heed/tensor/tensor.h"

namespace heed::store {

using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

class Safetensors {
 public:
  // Checks the whole file, the numbers by the checksum that heed writes; files of others have none. An Error
  // names the file and what is wrong with it.
  explicit Safetensors(const std::filesystem::path& path);

  std::vector<std::string> names() const;  // sorted
  const std::map<std::string, StoredTensor>& all() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  bool contains(const std::string& name) const { return header_.tensors.contains(name); }
  // An Error if there is none of that name.
  const StoredTensor& info(const std::string& name) const;

  // All numbers of a tensor; F16, BF16 and F64 become f32. Another number of elements, or a type that is not
  // floating point (or not I32), is an Error.
  void read_f32(const std::string& name, std::span<float> to) const;
  void read_i32(const std::string& name, std::span<int32_t> to) const;

 private:
  const StoredTensor& info(const std::string& name, size_t elements) const;
  void check_numbers(const std::string& stated) const;

  std::string file_;
  MappedFile mapped_;
  SafetensorsHeader header_;
  int64_t data_begin_ = 0;
};

// Names sorted, a checksum among the metadata, the data at a multiple of 64 bytes, the file replaced as a
// whole (base/files.h). The numbers go straight from the tensors to the file.
void write_safetensors(const std::filesystem::path& path, const Tensors& tensors,
                       const Metadata& metadata = {});

}  // namespace heed::store
