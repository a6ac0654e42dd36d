#include "heed/search/supernet/choice.h"

#include <algorithm>
#include <cmath>

#include "heed/spec/letters.h"

namespace heed::search {

std::string Choice::by_layer() const {
  std::string chosen;
  for (const auto& layer : probabilities)
    chosen += letters[static_cast<size_t>(std::max_element(layer.begin(), layer.end()) - layer.begin())];
  return chosen;
}

std::string Choice::found() const { return spec::without_identity(by_layer()); }

Choice choice_of(const std::string& letters, const std::vector<std::vector<double>>& logits) {
  Choice choice{letters, {}};
  for (const auto& layer : logits) {
    const double most = *std::max_element(layer.begin(), layer.end());
    std::vector<double> shares;
    double sum = 0;
    for (const double logit : layer) sum += shares.emplace_back(std::exp(logit - most));
    for (double& share : shares) share /= sum;
    choice.probabilities.push_back(std::move(shares));
  }
  return choice;
}

Slices slices_of(const std::string& by_layer) {
  Slices slices;
  for (size_t i = 0; i < by_layer.size(); ++i) ++slices[3 * i / by_layer.size()][by_layer[i]];
  return slices;
}

Json slices_json(const std::string& by_layer, const std::string& letters) {
  Json slices = Json::array();
  for (const auto& slice : slices_of(by_layer)) {
    Json counts = Json::object();
    for (const char letter : letters)
      counts[std::string(1, letter)] = slice.contains(letter) ? slice.at(letter) : 0;
    slices.push_back(counts);
  }
  return slices;
}

}  // namespace heed::search
