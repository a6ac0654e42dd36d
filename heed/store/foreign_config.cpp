#include "heed/store/foreign_config.h"

#include <algorithm>
#include <cmath>

namespace heed::store {

const Json* ForeignConfig::given(const char* key, bool (Json::*is_kind)() const noexcept,
                                 const char* kind) const {
  const auto found = config_.find(key);
  if (found == config_.end() || found->is_null()) return nullptr;
  if (!((*found).*is_kind)()) throw usage_error(what_, ": ", key, " is ", found->dump(), ", not ", kind);
  return &*found;
}

int64_t ForeignConfig::whole_number(const char* key, int64_t otherwise) const {
  const Json* value = given(key, &Json::is_number_integer, "a whole number");
  if (value && std::abs(value->get<double>()) > 0x1p32)
    throw usage_error(what_, ": ", key, " is ", value->dump(), ", far beyond any model");
  return value ? value->get<int64_t>() : otherwise;
}

double ForeignConfig::number(const char* key, double otherwise) const {
  const Json* value = given(key, &Json::is_number, "a number");
  return value ? value->get<double>() : otherwise;
}

size_t ForeignConfig::index_of(const char* key, const std::vector<std::string>& names) const {
  const auto value = config_.find(key);
  if (value == config_.end()) return 0;
  if (value->is_string()) {
    const auto found = std::ranges::find(names, value->get<std::string>());
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
  }
  throw usage_error(what_, ": ", key, " is ", value->dump(), "; heed builds ", family_, " with ", names[0]);
}

void ForeignConfig::require(const char* key, const Json& only) const {
  if (config_.contains(key) && config_.at(key) != only)
    throw usage_error(what_, ": ", key, " is ", config_.at(key).dump(), "; heed builds ", family_, " with ",
                      only.dump());
}

spec::ModelSpec ForeignConfig::checked(const spec::ModelSpec& spec) const {
  try {
    validate(spec);
  } catch (const Error& error) {
    throw usage_error(what_, ": ", error.what());
  }
  return spec;
}

}  // namespace heed::store
