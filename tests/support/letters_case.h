// Models handed to tests/oracle/letters.py and what builds on it: settings, weights and tokens as its cases
// have them.
#pragma once

#include "heed/model/model.h"
#include "tests/support/pytorch.h"

namespace heed::test {

inline Json write_weights(PyTorch& pytorch, const model::Weights& weights, const model::Source& source) {
  Json parameters = Json::object();
  for (const auto& [name, weight] : weights.plain) {
    std::vector<float> values(static_cast<size_t>(weight.shape.elements()));
    source(name, {values.data(), {weight.shape}});
    parameters[name] = pytorch.write(values.data(), {weight.shape});
  }
  return parameters;
}

// Of the model alone; first weights mean nothing there.
inline Json letters_settings(const spec::ModelSpec& spec) {
  Json settings = to_json(spec);
  for (const char* unknown : {"initialisation", "deviation", "dropout_everywhere"}) settings.erase(unknown);
  settings["cluster_order"] = "reverse";
  return settings;
}

}  // namespace heed::test
