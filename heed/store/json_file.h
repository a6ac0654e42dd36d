// JSON in files, formatted for people.
#pragma once

#include <filesystem>

#include "heed/base/fields.h"

namespace heed::store {

// Throws an Error that names the file and what is wrong: missing, not JSON, not an object.
Json read_json_object(const std::filesystem::path& path);

// Written completely or not at all. A number that is not finite is refused: JSON cannot express it, and it
// would be read back as null.
void write_json_object(const std::filesystem::path& path, const Json& json);

}  // namespace heed::store
