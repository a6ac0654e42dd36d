#include "heed/cli/settings_flags.h"

#include "heed/base/units.h"

namespace heed::cli {
namespace {

std::string kind_of(const Json& value) {
  return value.is_boolean()          ? "true|false"
         : value.is_number_integer() ? "COUNT"
         : value.is_number()         ? "NUMBER"
         : value.is_string()         ? "TEXT"
                                     : "JSON";
}

}  // namespace

std::string flag_name(std::string field) {
  for (char& c : field) c = c == '_' ? '-' : c;
  return field;
}

void FieldFlags::declare(Flags& flags, const std::vector<DescribedField>& fields, const std::string& group) {
  for (const DescribedField& field : fields)
    flags.option(group + flag_name(field.name), given_[field.name], field.meaning, kind_of(field.fallback));
}

std::vector<std::string> FieldFlags::given() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : given_) {
    if (!value.empty()) names.push_back(name);
  }
  return names;
}

Json FieldFlags::over(const Json& before, const std::string& what) const {
  Json json = Json::object();
  for (const std::string& name : given()) {
    const std::string& value = given_.at(name);
    const Json& like = before.at(name);
    // Text settings are plain text here; anything else is written as in JSON, whole numbers also with a unit.
    json[name] = like.is_string() ? Json(value) : Json::parse(value, nullptr, false);
    if (json[name].is_discarded() && like.is_number_integer())
      json[name] = parse_count(value, what + ": --" + flag_name(name));
    if (json[name].is_discarded() || json[name].type_name() != std::string(like.type_name()))
      throw usage_error(what, ": --", flag_name(name), " cannot be '", value, "'; ",
                        like.is_boolean()  ? "write true or false"
                        : like.is_number() ? "a number is expected"
                                           : "write it as in JSON");
  }
  return json;
}

}  // namespace heed::cli
