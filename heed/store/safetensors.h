// Tensors by name in one file, in the safetensors format: the header's length in 8 bytes, the header (JSON),
// the numbers. Other programs read and write it; it contains no code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file_reader.h"
#include "heed/store/safetensors_header.h"
#include "heed/tensor/tensor.h"

namespace heed::store {

using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

class Safetensors {
 public:
  // Checks the whole file, the numbers by the checksum that heed writes; files of other programs have none.
  // Throws an Error that names the file and what is wrong with it.
  explicit Safetensors(const std::filesystem::path& path);

  std::vector<std::string> names() const;  // sorted
  const std::map<std::string, StoredTensor>& all() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  bool contains(const std::string& name) const { return header_.tensors.contains(name); }
  // Throws if there is none of that name.
  const StoredTensor& info(const std::string& name) const;

  // All numbers of a tensor; F16, BF16 and F64 become f32. Throws if the number of elements differs, or
  // the type is not floating point.
  void read_f32(const std::string& name, std::span<float> to) const;
  // Those of some rows of a matrix.
  void read_rows(const std::string& name, int64_t first, std::span<float> to) const;
  // Columns of a matrix from `first` on as rows of another, of which each begins `leading` numbers after the
  // one before it and `to` is the first.
  void read_columns(const std::string& name, int64_t first, int64_t columns, float* to,
                    int64_t leading) const;
  // All numbers of a tensor into one of any type that the stored one fills (StoredTensor::fills).
  void read(const std::string& name, const Tensor& to) const;

 private:
  const StoredTensor& info(const std::string& name, size_t elements) const;
  // The numbers from `begin` on.
  void read_floats(const std::string& name, const StoredTensor& tensor, int64_t begin,
                   std::span<float> to) const;
  void check_numbers(const std::string& stated) const;

  std::string file_;
  FileReader reader_;
  SafetensorsHeader header_;
  int64_t data_begin_ = 0;
};

// Names sorted, a checksum among the metadata, the data at a multiple of 64 bytes, the file replaced
// atomically (base/files.h). The numbers go straight from the tensors to the file; those of f32 tensors may
// be rounded on the way to another floating point type.
void write_safetensors(const std::filesystem::path& path, const Tensors& tensors,
                       const Metadata& metadata = {}, DType floats_as = DType::kF32);

}  // namespace heed::store
