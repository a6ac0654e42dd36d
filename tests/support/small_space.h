// A space of small models, as a TOML file has it. Tests change what they count on.
#pragma once

#include <map>
#include <string>

namespace heed::test {

// By setting: {{"genes.inner", "[16, 48]"}, {"length", "8"}}.
using SpaceChanges = std::map<std::string, std::string>;

inline std::string small_space(const SpaceChanges& changes = {}) {
  SpaceChanges settings = {{"about", "\"small\""},
                           {"length", "16"},
                           {"model.backbone", "\"transformer-xl\""},
                           {"model.shared_position_bias", "false"},
                           {"model.vocabulary", "256"},
                           {"genes.layers", "[1, 2]"},
                           {"genes.width", "[16, 32]"},
                           {"genes.heads", "2"},
                           {"genes.inner", "[16, 32]"},
                           {"training.batch", "4"},
                           {"training.length", "16"},
                           {"training.steps", "5"},
                           {"training.optimizer", "\"adam\""},
                           {"training.learning_rate", "0.01"},
                           {"training.evaluate_every", "10"},
                           {"training.evaluate_tokens", "300"}};
  for (const auto& [setting, value] : changes) settings[setting] = value;
  std::map<std::string, std::string> tables;  // the first has no name
  for (const auto& [setting, value] : settings) {
    const size_t dot = setting.find('.');
    const std::string table = dot == std::string::npos ? "" : setting.substr(0, dot);
    tables[table] += setting.substr(dot + 1) + " = " + value + "\n";
  }
  std::string toml;
  for (const auto& [name, lines] : tables) toml += (name.empty() ? "" : "[" + name + "]\n") + lines;
  return toml;
}

}  // namespace heed::test
