#include "heed/store/json_file.h"

#include "heed/base/error.h"
#include "heed/base/files.h"
#include "heed/base/json.h"

namespace heed::store {

Json read_json_object(const std::filesystem::path& path) {
  const MappedFile file(path);
  Json json;
  try {
    json = parse_json(file.text());
  } catch (const Error& error) {
    throw damaged_error(path.string(), ": is ", error.what(), "; is it damaged?");
  }
  if (!json.is_object())
    throw damaged_error(path.string(), ": holds ", json.type_name(), " instead of an object");
  return json;
}

void write_json_object(const std::filesystem::path& path, const Json& json) {
  if (!json.is_object())
    throw usage_error(path.string(), ": an object was expected, ", json.type_name(), " given");
  std::string content;
  try {
    content = json.dump(2) + "\n";
  } catch (const Json::exception& error) {
    throw usage_error(path.string(), ": a text is not UTF-8: ", error.what());
  }
  if (Json::parse(content) != json)
    throw usage_error(path.string(), ": a number is not finite and cannot be written as JSON: ", json.dump());
  write_file(path, content);
}

}  // namespace heed::store
