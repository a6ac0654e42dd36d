// Every field of a settings struct as a flag of its own, to be laid over settings that come from elsewhere.
#pragma once

#include <map>
#include <set>
#include <string>

#include "heed/base/fields.h"
#include "heed/base/units.h"
#include "heed/cli/verb.h"

namespace heed::cli {

template <class Settings>
class SettingsFlags {
 public:
  // `group` begins the names where two structs have fields of one name, such as "eval-".
  void declare(Flags& flags, const std::string& group = "") {
    Settings settings;
    const Json defaults = to_json(settings);
    settings.visit([&](const std::string& name, auto&, const char* meaning) {
      flags.option(group + flag_name(name), given_[name], meaning, kind_of(defaults.at(name)));
    });
  }

  // The first flag that was given, those of `except` aside, without its dashes; empty if none was.
  std::string first_given(const std::set<std::string>& except = {}) const {
    for (const auto& [name, value] : given_) {
      if (!value.empty() && !except.contains(name)) return flag_name(name);
    }
    return "";
  }
  bool given(const std::string& name) const { return !given_.at(name).empty(); }

  // `settings` with what was given on the command line.
  Settings over(const Settings& settings, const std::string& what) const {
    const Json before = to_json(settings);
    Json json = Json::object();
    for (const auto& [name, value] : given_) {
      if (value.empty()) continue;
      // What is text in the settings is text here; anything else is written as in JSON, whole numbers with a
      // unit too.
      json[name] = before.at(name).is_string() ? Json(value) : Json::parse(value, nullptr, false);
      if (json[name].is_discarded() && before.at(name).is_number_integer())
        json[name] = parse_count(value, what + ": --" + flag_name(name));
      if (json[name].is_discarded() || json[name].type_name() != std::string(before.at(name).type_name()))
        throw usage_error(what, ": --", flag_name(name), " cannot be '", value, "'; ",
                          before.at(name).is_boolean()  ? "write true or false"
                          : before.at(name).is_number() ? "a number is expected"
                                                        : "write it as in JSON");
    }
    return from_json<Settings>(json, what, settings);
  }

 private:
  static std::string kind_of(const Json& value) {
    return value.is_boolean()          ? "true|false"
           : value.is_number_integer() ? "COUNT"
           : value.is_number()         ? "NUMBER"
           : value.is_string()         ? "TEXT"
                                       : "JSON";
  }
  static std::string flag_name(std::string name) {
    for (char& c : name) c = c == '_' ? '-' : c;
    return name;
  }

  std::map<std::string, std::string> given_;
};

}  // namespace heed::cli
