// Published models of several depths, to compare a frontier with.
#pragma once

#include <string>
#include <vector>

#include "heed/spec/space.h"

namespace heed::search {

struct Baseline {
  std::string name;  // "16 layers of Transformer-XL base"
  spec::ModelSpec model;
};
// Of the space's backbone, with the space's vocabulary: Transformer-XL base, or GPT-2 small. None for others.
std::vector<Baseline> baselines(const spec::Space& space);

}  // namespace heed::search
