// Safetensors files (store/safetensors.h): the input as it is, and with a header of the right length.
#include "heed/store/safetensors.h"

#include "tests/fuzz/support.h"

using namespace heed;

namespace {

void check(const std::filesystem::path& path) {
  const store::Safetensors file(path);
  for (const std::string& name : file.names()) {
    const store::StoredTensor& tensor = file.info(name);
    fuzz::law(!tensor.str().empty(), "a tensor can be shown");
    std::vector<float> floats(static_cast<size_t>(tensor.elements));
    std::vector<int32_t> ints(floats.size());
    const bool is_float = fuzz::answers([&] { file.read_f32(name, floats); });
    const bool is_int = fuzz::answers([&] {
      file.read(name, {ints.data(), {Shape{static_cast<int64_t>(ints.size())}, DType::kI32}});
    });
    fuzz::law(is_float == (tensor.type->to_f32 != nullptr), "floating point numbers can be read");
    fuzz::law(is_int == (tensor.type->name == std::string_view("I32")), "I32 can be read");
  }
  fuzz::answers([&] { file.info("a name"); });
}

}  // namespace

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] { check(fuzz::file_with(input, "raw.safetensors")); });
  fuzz::answers([&] { check(fuzz::file_with(fuzz::safetensors_of(input), "whole.safetensors")); });
}
