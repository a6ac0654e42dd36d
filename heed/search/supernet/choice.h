// The choice of a supernet: the blocks of each layer.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "heed/base/fields.h"

namespace heed::search {

// Probabilities of the blocks, layer by layer.
struct Choice {
  std::string letters;
  std::vector<std::vector<double>> probabilities;  // [layer][letter], sums of 1

  // The most probable letter of each layer, the first of equals.
  std::string by_layer() const;
  // The same without identities; empty if nothing else is left.
  std::string found() const;
};
// From logits, by softmax.
Choice choice_of(const std::string& letters, const std::vector<std::vector<double>>& logits);

// How often each letter is chosen in the first, second and last third of the layers (the second paper's
// figure 3).
using Slices = std::array<std::map<char, int64_t>, 3>;
Slices slices_of(const std::string& by_layer);
// The same with a number for every one of the letters.
Json slices_json(const std::string& by_layer, const std::string& letters);

}  // namespace heed::search
