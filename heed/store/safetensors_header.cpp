#include "heed/store/safetensors_header.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/tensor/half.h"

namespace heed::store {
namespace {

constexpr size_t kMaxRank = 64;

template <class Stored, auto convert>
void convert_all(const std::byte* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    Stored value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
    to[i] = convert(value);
  }
}

void copy_f32(const std::byte* from, int64_t n, float* to) {
  if (n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
}

constexpr auto narrow = [](double value) { return static_cast<float>(value); };

constexpr StoredType kTypes[] = {
    {"F32", 4, copy_f32},
    {"F16", 2, convert_all<uint16_t, from_f16>},
    {"BF16", 2, convert_all<uint16_t, from_bf16>},
    {"F64", 8, convert_all<double, narrow>},
    {"I32", 4, nullptr},
    {"I64", 8, nullptr},
    {"I8", 1, nullptr},
    {"U8", 1, nullptr},
    {"BOOL", 1, nullptr},
};

// Handles the events of the JSON parser instead of a tree of values: a tree keeps the last of two equal keys
// and grows with the nesting of a file.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(const std::string& file, SafetensorsHeader& header) : file_(file), header_(header) {}

  bool start_object(size_t) override {
    if (where_ == Where::kOutside) {
      where_ = Where::kTop;
    } else if (where_ == Where::kTop) {
      where_ = name_ == kMetadataKey ? Where::kMetadata : Where::kTensor;
      tensor_ = {};
      seen_ = {};
      offsets_.clear();
    } else {
      refuse_value("an object");
    }
    return true;
  }

  bool key(string_t& key) override {
    key_ = key;
    if (where_ == Where::kTop) {
      name_ = key;
      const bool twice =
          key == kMetadataKey ? std::exchange(metadata_seen_, true) : header_.tensors.contains(key);
      if (twice) refuse("the name ", name_in_quotes(key), " appears twice");
    } else if (where_ == Where::kMetadata) {
      if (header_.metadata.contains(key)) refuse("metadata ", name_in_quotes(key), " appears twice");
    } else {
      const auto found = std::find(std::begin(kKeys), std::end(kKeys), key);
      if (found == std::end(kKeys))
        refuse("tensor ", name_in_quotes(name_), " has an unknown property ", name_in_quotes(key));
      bool& seen = seen_[static_cast<size_t>(found - std::begin(kKeys))];
      if (std::exchange(seen, true)) refuse("tensor ", name_in_quotes(name_), " has ", key, " twice");
    }
    return true;
  }

  bool string(string_t& value) override {
    if (where_ == Where::kMetadata) {
      header_.metadata.emplace(key_, value);
    } else if (where_ == Where::kTensor && key_ == "dtype") {
      const auto found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const StoredType& type) { return type.name == value; });
      if (found == std::end(kTypes)) {
        std::string known;
        for (const StoredType& type : kTypes) known += text(known.empty() ? "" : ", ", type.name);
        refuse("tensor ", name_in_quotes(name_), " is of unknown type ", name_in_quotes(value),
               "; known are ", known);
      }
      tensor_.type = found;
    } else {
      refuse_value("text");
    }
    return true;
  }

  bool start_array(size_t) override {
    if (where_ != Where::kTensor || key_ == "dtype") refuse_value("a list");
    where_ = key_ == "shape" ? Where::kShape : Where::kOffsets;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (where_ != Where::kShape && where_ != Where::kOffsets) refuse_value("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) refuse_number(text(value));
    std::vector<int64_t>& list = where_ == Where::kShape ? tensor_.shape : offsets_;
    if (list.size() == kMaxRank)
      refuse("tensor ", name_in_quotes(name_), ": ", key_, " has more than ", kMaxRank, " numbers");
    list.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(number_integer_t value) override { return refuse_number(text(value)); }
  bool number_float(number_float_t, const string_t& digits) override { return refuse_number(digits); }
  bool null() override { return refuse_value("null"); }
  bool boolean(bool value) override { return refuse_value(value ? "true" : "false"); }
  bool binary(binary_t&) override { return refuse_value("bytes"); }

  bool end_array() override {
    where_ = Where::kTensor;
    return true;
  }

  bool end_object() override {
    if (where_ == Where::kTensor) add_tensor();
    where_ = Where::kTop;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without its first word.
    const std::string what = error.what();
    const size_t after = what.find("] ");
    refuse("the header is not JSON at byte ", position, ": ",
           after == std::string::npos ? what : what.substr(after + 2, 200));
    return false;
  }

 private:
  enum class Where { kOutside, kTop, kMetadata, kTensor, kShape, kOffsets };
  static constexpr const char* kKeys[] = {"dtype", "shape", "data_offsets"};

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    throw damaged_error(file_, ": ", parts...);
  }
  bool refuse_number(const std::string& value) const {
    if (where_ != Where::kShape && where_ != Where::kOffsets) refuse_value("a number");
    refuse("tensor ", name_in_quotes(name_), ": ", key_, " holds ", value.substr(0, 40),
           "; it must be a whole number from 0 to 2^63 - 1");
  }
  bool refuse_value(const char* kind) const {
    switch (where_) {
      case Where::kOutside:
        refuse("the header is not an object but ", kind);
      case Where::kTop:
        refuse("the entry of ", name_in_quotes(name_), " is not an object but ", kind);
      case Where::kMetadata:
        refuse("metadata ", name_in_quotes(key_), " is not text but ", kind);
      default:
        refuse("tensor ", name_in_quotes(name_), ": ", key_, " cannot hold ", kind);
    }
  }

  void add_tensor() {
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (!seen_[i]) refuse("tensor ", name_in_quotes(name_), " has no ", kKeys[i]);
    }
    if (offsets_.size() != 2)
      refuse("tensor ", name_in_quotes(name_), ": data_offsets has ", offsets_.size(),
             " numbers instead of begin and end");
    tensor_.begin = offsets_[0], tensor_.end = offsets_[1];
    if (tensor_.begin > tensor_.end)
      refuse("tensor ", name_in_quotes(name_), " ends at byte ", tensor_.end, ", before its begin ",
             tensor_.begin);
    int64_t bytes = 0;
    tensor_.elements = 1;
    bool overflow = false;
    for (int64_t size : tensor_.shape)
      overflow |= __builtin_mul_overflow(tensor_.elements, size, &tensor_.elements);
    overflow |= __builtin_mul_overflow(tensor_.elements, tensor_.type->size, &bytes);
    if (overflow)
      refuse("tensor ", name_in_quotes(name_), ' ', tensor_.str(), " has more bytes than 64 bits count");
    if (bytes != tensor_.end - tensor_.begin)
      refuse("tensor ", name_in_quotes(name_), ' ', tensor_.str(), " needs ", bytes,
             " bytes, its data_offsets give ", tensor_.end - tensor_.begin);
    header_.tensors.emplace(name_, std::move(tensor_));
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  Where where_ = Where::kOutside;
  std::string name_, key_;
  StoredTensor tensor_;
  std::array<bool, 3> seen_{};  // by kKeys
  std::vector<int64_t> offsets_;
  bool metadata_seen_ = false;
};

void check_cover(const SafetensorsHeader& header, int64_t data_bytes, const std::string& file) {
  std::vector<std::map<std::string, StoredTensor>::const_pointer> order;
  for (const auto& entry : header.tensors) order.push_back(&entry);
  // Empty tensors come before the one that begins at the same byte.
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  int64_t covered = 0;
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    if (tensor.end > data_bytes)
      throw damaged_error(file, ": tensor ", name_in_quotes(name), " ends at byte ", tensor.end,
                          " of the data, which has ", data_bytes, "; is the file cut off?");
    if (tensor.begin < covered)
      throw damaged_error(file, ": tensor ", name_in_quotes(name), " at byte ", tensor.begin,
                          " overlaps the one before it, which ends at ", covered);
    if (tensor.begin > covered)
      throw damaged_error(file, ": bytes ", covered, " to ", tensor.begin, " of the data, before tensor ",
                          name_in_quotes(name), ", belong to no tensor");
    covered = tensor.end;
  }
  if (covered != data_bytes)
    throw damaged_error(file, ": the tensors end at byte ", covered, " of the data, which has ", data_bytes);
}

}  // namespace

std::span<const StoredType> stored_types() { return kTypes; }

std::string stored_name(DType dtype) {
  std::string name = name_of(dtype);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

bool StoredTensor::fills(DType dtype) const {
  return dtype == DType::kF32 ? type->to_f32 != nullptr : type->name == stored_name(dtype);
}

std::string StoredTensor::str() const {
  std::string out = std::string(type->name) + "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

std::string name_in_quotes(const std::string& name) {
  constexpr size_t kLongest = 80;
  std::string shown = name.substr(0, kLongest);
  if (name.size() > kLongest) shown += "...";
  shown = Json(shown).dump(-1, ' ', true, Json::error_handler_t::replace);
  shown.front() = shown.back() = '\'';
  return shown;
}

SafetensorsHeader read_header(std::string_view json, int64_t data_bytes, const std::string& file) {
  if (json.empty() || json[0] != '{') throw damaged_error(file, ": the header does not begin with '{'");
  // The parser takes a zero byte for the end and would not look at what follows.
  if (json.find('\0') != std::string_view::npos)
    throw damaged_error(file, ": the header is not JSON: it holds a zero byte");
  SafetensorsHeader header;
  HeaderReader reader(file, header);
  Json::sax_parse(json.begin(), json.end(), &reader);
  check_cover(header, data_bytes, file);
  return header;
}

}  // namespace heed::store
