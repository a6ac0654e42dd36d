#include "heed/base/toml.h"

namespace heed {
namespace {

[[noreturn]] void refuse_toml() { throw usage_error("it breaks the syntax"); }

}  // namespace
}  // namespace heed

// The library asserts things about its input that a hostile file violates, such as "[=]". By default it then
// aborts, or continues as if nothing were wrong; here it throws, in every kind of build.
#undef NDEBUG
#define TOML_ASSERT(belief) ((belief) ? void() : ::heed::refuse_toml())
#include <toml++/toml.h>

namespace heed {
namespace {

constexpr int64_t kMostDots = 1000;

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
  throw usage_error(what, ": line ", node.source().begin.line, ": dates and times are not supported");
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& what) {
  // Each dot of a key nests one more table, and the library destroys them by recursion. Files that people
  // write have a few.
  if (std::count(text.begin(), text.end(), '.') > kMostDots)
    throw usage_error(what, ": has more than ", kMostDots, " dots; settings are never nested this deep");
  try {
    return to_json(toml::parse(text), what);
  } catch (const toml::parse_error& error) {
    throw usage_error(what, ": not TOML: line ", error.source().begin.line, ": ", error.description());
  } catch (const Error& error) {
    throw usage_error(what, ": not TOML: ", error.what());
  }
}

}  // namespace heed
