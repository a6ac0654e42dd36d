// Spaces in TOML (spec/space.h, base/toml.h), and names of their models: the first line of the input.
#include "heed/spec/space.h"

#include <cmath>

#include "heed/base/toml.h"
#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const std::string key(fuzz::take_line(input));
  fuzz::answers([&] {
    const spec::Space space = spec::read_space(parse_toml(input, "space.toml"), "space.toml");
    fuzz::law(!std::isnan(space.log10_size()), "the size of a space is a number");
    const spec::Candidate candidate = space.candidate_of(key);
    constexpr const char* kLaw = "candidate -> name -> candidate";
    const auto again = [&] { return space.candidate_of(space.key_of(candidate)); };
    fuzz::law(fuzz::must(kLaw, again) == candidate, kLaw);
    validate(space.recipe_of(candidate).model);
  });
}
