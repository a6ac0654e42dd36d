// The fields of a settings struct without its type, for lists whose entries each have their own settings.
#pragma once

#include "heed/base/fields.h"

namespace heed {

struct DescribedField {
  std::string name;
  Json fallback;
  std::string meaning;
};

template <class Settings>
std::vector<DescribedField> described_fields() {
  Settings settings;
  const Json defaults = to_json(settings);
  std::vector<DescribedField> fields;
  settings.visit([&](const char* name, auto&, const char* meaning) {
    fields.push_back({name, defaults.at(name), meaning});
  });
  return fields;
}

}  // namespace heed
