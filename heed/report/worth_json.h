// What the views of `heed worth` and of searches by worth have in common.
#pragma once

#include <string>

#include "heed/search/worth/law.h"
#include "heed/spec/space.h"

namespace heed::report {

// The moments of a training, [{tokens, bits_per_byte}] as stored, as two lists.
Json moments_json(const Json& stored);

// What one more block of each kind and size would change in a model: {base, arch, width, tokens, predicted,
// blocks: [{letter, width, sizes, parameters, bits, piece, ms}]}. `piece` names the block in a device's
// profile; ms is null.
Json rates_json(const std::string& base, const spec::ModelSpec& model, const spec::Space& space,
                const search::Law& law, double tokens);

}  // namespace heed::report
