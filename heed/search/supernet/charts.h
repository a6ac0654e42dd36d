// Charts of the choice of a supernet, as SVG.
#pragma once

#include <string>
#include <vector>

#include "heed/search/supernet/choice.h"

namespace heed::search {

// Probabilities of each block by layer, the chosen ones framed (the first paper's figure 2).
std::string choice_chart(const Choice& choice, const std::string& title);

// The same over time, one panel per letter: layers downwards, iterations to the right.
struct ChoiceAt {
  int64_t step;
  Choice choice;
};
std::string course_chart(const std::vector<ChoiceAt>& course, const std::string& title);

}  // namespace heed::search
