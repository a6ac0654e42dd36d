// The space that was searched, as config.json of a folder keeps it: a copy, since the space's file may
// change.
#pragma once

#include "heed/base/fields.h"

namespace heed::spec {

inline constexpr const char* kSpaceDefinition = "space_definition";

// The same settings under the current name; earlier versions wrote "space_says".
inline Json with_space_definition(Json config) {
  if (!config.is_object()) return config;
  if (const auto before = config.find("space_says"); before != config.end()) {
    config[kSpaceDefinition] = Json(*before);
    config.erase("space_says");
  }
  return config;
}

}  // namespace heed::spec
