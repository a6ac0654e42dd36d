#include "heed/store/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "heed/base/hash.h"
#include "heed/tensor/half.h"

namespace heed::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kDataAlignment = 64;

constexpr const char* kChecksumKey = "heed_checksum";  // in the metadata, for readers of the same format

// Covers everything in a file: metadata first, then each tensor by name with its type, shape and bytes.
class Checksum {
 public:
  explicit Checksum(const Metadata& metadata) {
    for (const auto& [key, value] : metadata) add(key + "=" + value);
  }
  void add(std::string_view bytes) { hash_ = hash_bytes(bytes, hash_); }
  std::string str() const { return hash_name(hash_); }

 private:
  uint64_t hash_ = 0;
};

constexpr int64_t kPiece = 1 << 20;  // bytes that are hashed at once

// Tensors as the file will hold them: f32 in the requested floating point type.
class Stored {
 public:
  Stored(const Tensors& tensors, DType floats_as) : tensors_(tensors), floats_as_(floats_as) {
    HEED_ASSERT(floats_as == DType::kF32 || floats_as == DType::kF16 || floats_as == DType::kBF16);
  }

  const Tensors& tensors() const { return tensors_; }
  TensorType type(const Tensor& tensor) const {
    return {tensor.shape(), tensor.type.dtype == DType::kF32 ? floats_as_ : tensor.type.dtype};
  }
  std::string described(const Tensor& tensor) const {  // as StoredTensor::str
    return stored_name(type(tensor).dtype) + tensor.shape().str();
  }

  // Calls take(bytes) with up to kPiece at a time.
  template <class Take>
  void each_piece(const Tensor& tensor, const Take& take) const {
    const DType as = type(tensor).dtype;
    const int64_t bytes = type(tensor).bytes();
    if (as == tensor.type.dtype) {
      const std::string_view all(static_cast<const char*>(tensor.data), static_cast<size_t>(bytes));
      for (size_t at = 0; at < all.size(); at += kPiece) take(all.substr(at, kPiece));
      return;
    }
    std::vector<uint16_t> piece(kPiece / sizeof(uint16_t));
    const std::span<const float> all = tensor.floats();
    for (size_t at = 0; at < all.size(); at += piece.size()) {
      const auto some = all.subspan(at, std::min(piece.size(), all.size() - at));
      if (as == DType::kF16) check_range(some);
      std::ranges::transform(some, piece.begin(), as == DType::kF16 ? to_f16 : to_bf16);
      take(std::string_view(reinterpret_cast<const char*>(piece.data()), some.size() * sizeof(uint16_t)));
    }
  }

 private:
  // A finite number must not become infinite without anybody noticing.
  static void check_range(std::span<const float> floats) {
    constexpr float kRoundsToInfinity = 65520;
    for (const float value : floats) {
      if (std::abs(value) >= kRoundsToInfinity && std::isfinite(value))
        throw usage_error("a weight is ", value, ", but f16 ends at 65504; save as bf16 or f32");
    }
  }

  const Tensors& tensors_;
  DType floats_as_;
};

std::string checksum_of(const Stored& stored, const Metadata& metadata) {
  Checksum sum(metadata);
  for (const auto& [name, tensor] : stored.tensors()) {
    sum.add(name + " " + stored.described(tensor));
    stored.each_piece(tensor, [&](std::string_view bytes) { sum.add(bytes); });
  }
  return sum.str();
}

std::string header_for(const std::filesystem::path& path, const Stored& stored, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  int64_t at = 0;
  for (const auto& [name, tensor] : stored.tensors()) {
    if (name == kMetadataKey)
      throw usage_error(path.string(), ": a tensor cannot be named ", kMetadataKey,
                        ", which the format reserves");
    Json shape = Json::array();
    for (int i = 0; i < tensor.shape().rank(); ++i) shape.push_back(tensor.shape().dim(i));
    const TensorType type = stored.type(tensor);
    const int64_t end = at + type.bytes();
    header[name] = {{"dtype", stored_name(type.dtype)}, {"shape", shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string out;
  try {
    out = header.dump();
  } catch (const Json::exception& error) {
    throw usage_error(path.string(), ": a name or metadata is not UTF-8: ", error.what());
  }
  const auto whole = kLengthBytes + static_cast<int64_t>(out.size());
  out.append(static_cast<size_t>((kDataAlignment - whole % kDataAlignment) % kDataAlignment), ' ');
  if (static_cast<int64_t>(out.size()) > kMaxHeaderBytes)
    throw usage_error(path.string(), ": the names of ", stored.tensors().size(), " tensors take ", out.size(),
                      " bytes; the format allows ", kMaxHeaderBytes);
  return out;
}

}  // namespace

Safetensors::Safetensors(const std::filesystem::path& path) : file_(path.string()), reader_(path) {
  if (reader_.size() < kLengthBytes)
    throw damaged_error(file_, ": has ", reader_.size(), " bytes; a safetensors file has at least ",
                        kLengthBytes);
  uint64_t length = 0;
  reader_.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > static_cast<uint64_t>(kMaxHeaderBytes))
    throw damaged_error(file_, ": claims a header of ", length, " bytes, at most ", kMaxHeaderBytes,
                        " are allowed; is it a safetensors file?");
  if (static_cast<int64_t>(length) > reader_.size() - kLengthBytes)
    throw damaged_error(file_, ": claims a header of ", length, " bytes, but has only ", reader_.size(),
                        " bytes in total; is it cut off?");
  data_begin_ = kLengthBytes + static_cast<int64_t>(length);
  std::string header(length, ' ');
  reader_.read(kLengthBytes, std::as_writable_bytes(std::span(header)));
  header_ = read_header(header, reader_.size() - data_begin_, file_);
  const auto stated = header_.metadata.extract(kChecksumKey);
  if (!stated.empty()) check_numbers(stated.mapped());
}

void Safetensors::check_numbers(const std::string& stated) const {
  Checksum sum(header_.metadata);
  std::string piece;
  for (const auto& [name, tensor] : header_.tensors) {
    sum.add(name + " " + tensor.str());
    for (int64_t at = tensor.begin; at < tensor.end; at += kPiece) {
      piece.resize(static_cast<size_t>(std::min(kPiece, tensor.end - at)));
      reader_.read(data_begin_ + at, std::as_writable_bytes(std::span(piece)));
      sum.add(piece);
    }
  }
  if (sum.str() != stated)
    throw damaged_error(file_, ": is damaged: its checksum is ", sum.str(), ", ", stated, " was written");
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : header_.tensors) names.push_back(name);
  return names;
}

const StoredTensor& Safetensors::info(const std::string& name) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) {
    const std::string guess = nearest(name, names());
    throw usage_error(file_, ": has no tensor ", name_in_quotes(name),
                      guess.empty() ? "" : "; did you mean " + name_in_quotes(guess) + "?");
  }
  return found->second;
}

const StoredTensor& Safetensors::info(const std::string& name, size_t elements) const {
  const StoredTensor& tensor = info(name);
  if (tensor.elements != static_cast<int64_t>(elements))
    throw usage_error(file_, ": tensor ", name_in_quotes(name), " is ", tensor.str(), ", ", elements,
                      " numbers were asked for");
  return tensor;
}

void Safetensors::read_f32(const std::string& name, std::span<float> to) const {
  read_floats(name, info(name, to.size()), 0, to);
}

void Safetensors::read_rows(const std::string& name, int64_t first, std::span<float> to) const {
  const StoredTensor& tensor = info(name);
  HEED_ASSERT(tensor.shape.size() == 2);
  const int64_t begin = first * tensor.shape[1];
  HEED_ASSERT(begin >= 0 && begin + std::ssize(to) <= tensor.elements);
  read_floats(name, tensor, begin, to);
}

void Safetensors::read_columns(const std::string& name, int64_t first, int64_t columns, float* to,
                               int64_t leading) const {
  const StoredTensor& tensor = info(name);
  HEED_ASSERT(tensor.shape.size() == 2);
  const int64_t rows = tensor.shape[0], width = tensor.shape[1];
  HEED_ASSERT(first >= 0 && first + columns <= width && rows <= leading);
  constexpr int64_t kRows = 16;  // a cache line of each row that is written
  std::vector<float> some(static_cast<size_t>(kRows * columns));
  for (int64_t row = 0; row < rows; row += kRows) {
    const int64_t count = std::min(kRows, rows - row);
    for (int64_t r = 0; r < count; ++r)
      read_floats(name, tensor, (row + r) * width + first,
                  std::span(some).subspan(static_cast<size_t>(r * columns), static_cast<size_t>(columns)));
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < count; ++r)
        to[c * leading + row + r] = some[static_cast<size_t>(r * columns + c)];
    }
  }
}

void Safetensors::read_floats(const std::string& name, const StoredTensor& tensor, int64_t begin,
                              std::span<float> to) const {
  if (!tensor.type->to_f32)
    throw usage_error(file_, ": tensor ", name_in_quotes(name), " is ", tensor.str(),
                      ", floating point numbers were asked for");
  const int64_t size = tensor.type->size, from = data_begin_ + tensor.begin + begin * size;
  if (tensor.type->name == stored_name(DType::kF32)) return reader_.read(from, std::as_writable_bytes(to));
  // In pieces: otherwise a model would be in memory twice.
  constexpr int64_t kNumbers = 1 << 16;
  std::vector<std::byte> piece(static_cast<size_t>(std::min(kNumbers, std::ssize(to)) * size));
  for (int64_t at = 0; at < std::ssize(to); at += kNumbers) {
    const int64_t n = std::min(kNumbers, std::ssize(to) - at);
    const std::span<std::byte> bytes = std::span(piece).first(static_cast<size_t>(n * size));
    reader_.read(from + at * size, bytes);
    tensor.type->to_f32(bytes.data(), n, to.data() + at);
  }
}

void Safetensors::read(const std::string& name, const Tensor& to) const {
  if (to.type.dtype == DType::kF32) return read_f32(name, to.floats());
  const StoredTensor& tensor = info(name, static_cast<size_t>(to.shape().elements()));
  if (!tensor.fills(to.type.dtype))
    throw usage_error(file_, ": tensor ", name_in_quotes(name), " is ", tensor.str(), ", ",
                      stored_name(to.type.dtype), " was asked for");
  reader_.read(data_begin_ + tensor.begin,
               {static_cast<std::byte*>(to.data), static_cast<size_t>(to.type.bytes())});
}

void write_safetensors(const std::filesystem::path& path, const Tensors& tensors, const Metadata& metadata,
                       DType floats_as) {
  const Stored stored(tensors, floats_as);
  Metadata checked = metadata;
  checked[kChecksumKey] = checksum_of(stored, metadata);
  const std::string header = header_for(path, stored, checked);
  write_file(path, [&](std::ostream& out) {
    const uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), kLengthBytes);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const auto& [name, tensor] : tensors) {
      stored.each_piece(tensor, [&](std::string_view bytes) {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      });
    }
  });
}

}  // namespace heed::store
