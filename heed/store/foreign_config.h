// The config.json of a model that another program wrote. Every message names the file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/base/fields.h"
#include "heed/spec/model_spec.h"

namespace heed::store {

class ForeignConfig {
 public:
  // `family` is how messages call the kind of model, "GPT-2".
  ForeignConfig(const Json& config, std::string what, std::string family)
      : config_(config), what_(std::move(what)), family_(std::move(family)) {}

  // The values of keys. Null counts as absent; throws for a value of another type.
  int64_t whole_number(const char* key, int64_t otherwise) const;
  double number(const char* key, double otherwise) const;
  // Throws if the key is there with another value than the only one that heed builds.
  void require(const char* key, const Json& only) const;
  // What the value of the key, a name, stands for; throws if it is none of `known`. Absent, it is the first.
  template <class Value, size_t N>
  Value one_of(const char* key, const std::pair<const char*, Value> (&known)[N]) const {
    std::vector<std::string> names;
    for (const auto& [name, meaning] : known) names.push_back(name);
    return known[index_of(key, names)].second;
  }
  // Validates what was read.
  spec::ModelSpec checked(const spec::ModelSpec& spec) const;

 private:
  size_t index_of(const char* key, const std::vector<std::string>& names) const;
  // The value of a key that is present and not null, checked to be of that kind.
  const Json* given(const char* key, bool (Json::*is_kind)() const noexcept, const char* kind) const;

  const Json& config_;
  std::string what_, family_;
};

}  // namespace heed::store
