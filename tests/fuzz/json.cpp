// JSON as files and flags bring it (base/json.h).
#include "heed/base/json.h"

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] {
    const Json json = parse_json(input);
    const std::string dumped = json.dump();
    fuzz::law(parse_json(dumped) == json, "value -> text -> value");
  });
}
