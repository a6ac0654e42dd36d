// JSON in files that people read too.
#pragma once

#include <filesystem>

#include "heed/base/fields.h"

namespace heed::store {

// An Error names the file and what is wrong: missing, not JSON, not an object.
Json read_json_object(const std::filesystem::path& path);

// Written as a whole or not at all. A number that is not finite is refused: JSON has no word for it, and null
// would come back in its place.
void write_json_object(const std::filesystem::path& path, const Json& json);

}  // namespace heed::store
