// Settings that name each field once.
//
// A settings struct has `template <class V> void visit(V&& field)` that calls field("name", member,
// "meaning") for each member. Reading from JSON, writing to JSON and help follow from that; an unknown key is
// refused with the nearest known one.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "heed/base/error.h"

// Compiled once, in fields.cpp, instead of with each of the many files that use them.
extern template class std::vector<nlohmann::json>;
extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::json_ref<nlohmann::json>;
extern template class nlohmann::detail::iter_impl<const nlohmann::json>;
extern template class nlohmann::detail::json_sax_dom_parser<nlohmann::json>;
extern template class nlohmann::detail::json_sax_dom_callback_parser<nlohmann::json>;

namespace heed {

using Json = nlohmann::json;

// The shortest candidate that begins with the word; otherwise that with the smallest edit distance, or ""
// when none is close.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

// Enumerations appear in JSON by name; specialise with `static constexpr std::pair<Enum, const char*>
// names[]`.
template <class E>
struct EnumNames;

template <class E>
std::string enum_name(E value) {
  for (const auto& [known, name] : EnumNames<E>::names) {
    if (known == value) return name;
  }
  throw AssertionFailed("an enumeration value has no name");
}

template <class E>
E enum_from_name(const std::string& name) {
  std::string all;
  for (const auto& [known, known_name] : EnumNames<E>::names) {
    if (name == known_name) return known;
    all += (all.empty() ? "" : ", ") + std::string(known_name);
  }
  throw usage_error("'", name, "' is not one of ", all);
}

namespace fields_detail {

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <class T>
void read(const Json& json, T& member) {
  if constexpr (std::is_enum_v<T>) {
    member = enum_from_name<T>(json.get<std::string>());
  } else if constexpr (std::is_same_v<T, int64_t>) {
    // JSON has one kind of number: 512.0 is whole; 512.9 and anything outside int64_t is not.
    const double value = json.get<double>();
    if (value != std::floor(value) || std::abs(value) >= 0x1p63)
      throw usage_error("it must be a whole number, it is ", json.dump());
    member = json.is_number_integer() ? json.get<int64_t>() : static_cast<int64_t>(value);
  } else if constexpr (kIsList<T>) {
    member.clear();
    const auto add = [&](const Json& each) {
      typename T::value_type value = {};
      read(each, value);
      member.push_back(std::move(value));
    };
    if (!json.is_array()) return add(json);  // one value is a list of one
    for (const Json& each : json) add(each);
  } else {
    json.get_to(member);
  }
}

template <class T>
Json write(const T& member) {
  if constexpr (std::is_enum_v<T>) {
    return enum_name(member);
  } else {
    return member;
  }
}

}  // namespace fields_detail

template <class Settings>
Json to_json(Settings settings) {
  Json json = Json::object();
  settings.visit(
      [&](const char* name, auto& member, const char*) { json[name] = fields_detail::write(member); });
  return json;
}

// `what` names the object in error messages. Fields that the JSON leaves out keep their value in `settings`.
template <class Settings>
Settings from_json(const Json& json, const std::string& what, Settings settings = {}) {
  if (!json.is_object())
    throw usage_error(what, ": expected an object of settings, found ", json.type_name());
  std::vector<std::string> known;
  settings.visit([&](const char* name, auto& member, const char* meaning) {
    known.push_back(name);
    const auto found = json.find(name);
    if (found == json.end()) return;
    try {
      fields_detail::read(*found, member);
    } catch (const Json::exception&) {
      throw usage_error(what, ": '", name, "' (", meaning, ") cannot be ", found->dump());
    } catch (const Error& error) {
      throw usage_error(what, ": '", name, "' (", meaning, "): ", error.what());
    }
  });
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string guess = nearest(key, known);
      throw usage_error(what, ": unknown setting '", key, "'",
                        guess.empty() ? "" : "; did you mean '" + guess + "'?");
    }
  }
  return settings;
}

}  // namespace heed
