// Architecture strings (spec/arch.h).
#include "heed/spec/arch.h"
#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] {
    const std::string letters = spec::parse_arch(std::string(input)), formatted = spec::format_arch(letters);
    constexpr const char* kLaw = "letters -> groups -> letters";
    fuzz::law(fuzz::must(kLaw, [&] { return spec::parse_arch(formatted); }) == letters, kLaw);
  });
}
