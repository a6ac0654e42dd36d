#include "heed/base/toml.h"

#include <toml++/toml.h>

namespace heed {
namespace {

Json to_json(const toml::node& node, const std::string& what) {
  if (const auto* table = node.as_table()) {
    Json json = Json::object();
    for (const auto& [key, value] : *table) json[std::string(key.str())] = to_json(value, what);
    return json;
  }
  if (const auto* array = node.as_array()) {
    Json json = Json::array();
    for (const auto& value : *array) json.push_back(to_json(value, what));
    return json;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  throw usage_error(what, ": line ", node.source().begin.line, ": dates and times mean nothing here");
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& what) {
  try {
    return to_json(toml::parse(text), what);
  } catch (const toml::parse_error& error) {
    throw usage_error(what, ": not TOML from line ", error.source().begin.line, " on: ", error.description());
  }
}

}  // namespace heed
