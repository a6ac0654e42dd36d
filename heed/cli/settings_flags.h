// Every field of settings as a flag that overrides settings from elsewhere.
#pragma once

#include <map>
#include <string>

#include "heed/base/described_fields.h"
#include "heed/cli/flags.h"

namespace heed::cli {

// Flags of fields whose struct is not known here.
class FieldFlags {
 public:
  // `group`, such as "eval-", is the prefix of the names if two structs share a field name.
  void declare(Flags& flags, const std::vector<DescribedField>& fields, const std::string& group = "");
  // The names of fields that were given.
  std::vector<std::string> given() const;
  // The fields that were given, each of the same type as in `before`. `what` starts every message.
  Json over(const Json& before, const std::string& what) const;

 private:
  std::map<std::string, std::string> given_;  // by field; empty if it was not given
};

// "max_steps" -> "max-steps".
std::string flag_name(std::string field);

template <class Settings>
class SettingsFlags {
 public:
  void declare(Flags& flags, const std::string& group = "") {
    fields_.declare(flags, described_fields<Settings>(), group);
  }
  // `settings` with what was given on the command line.
  Settings over(const Settings& settings, const std::string& what) const {
    return from_json<Settings>(fields_.over(to_json(settings), what), what, settings);
  }
  std::vector<std::string> given() const { return fields_.given(); }

 private:
  FieldFlags fields_;
};

}  // namespace heed::cli
