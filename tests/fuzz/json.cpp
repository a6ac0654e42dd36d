// JSON as files and flags bring it (base/json.h).
#include "heed/base/json.h"

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] {
    const Json json = parse_json(input);
    const std::string dumped = json.dump();
    constexpr const char* kLaw = "value -> text -> value";
    fuzz::law(fuzz::must(kLaw, [&] { return parse_json(dumped); }) == json, kLaw);
  });
}
