// Architecture strings (spec/arch.h).
#include "heed/spec/arch.h"
#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] {
    const std::string letters = spec::parse_arch(std::string(input)), formatted = spec::format_arch(letters);
    fuzz::law(spec::parse_arch(formatted) == letters, "letters -> grouped -> letters");
    fuzz::law(spec::format_arch(spec::parse_arch(formatted)) == formatted, "grouped -> letters -> grouped");
  });
}
