#include "heed/data/tokenizer_json.h"

#include <cstdio>
#include <unordered_set>
#include <utility>

namespace heed::data {
namespace {

const Json& member(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (found == json.end()) throw usage_error("'", key, "' is missing");
  return *found;
}

}  // namespace

const Json* heed_part(const Json& json, std::string_view kind) {
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object()) return nullptr;
  const auto part = json["model"].find("heed");
  if (part == json["model"].end() || !part->is_object()) return nullptr;
  const auto found = part->find("kind");
  return found != part->end() && found->is_string() && found->get_ref<const std::string&>() == kind ? &*part
                                                                                                    : nullptr;
}

const Json& object_at(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_object()) throw usage_error("'", key, "' should be an object, found ", value.type_name());
  return value;
}

const Json& array_at(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_array()) throw usage_error("'", key, "' should be an array, found ", value.type_name());
  return value;
}

std::string string_at(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_string()) throw usage_error("'", key, "' should be a string, found ", value.type_name());
  return value.get<std::string>();
}

std::optional<uint64_t> whole_number(const Json& json) {
  if (json.is_number_unsigned()) return json.get<uint64_t>();
  if (json.is_number_integer() && json.get<int64_t>() >= 0) return json.get<uint64_t>();
  return std::nullopt;
}

void IdNames::set(const Json& id, const std::string& name) {
  const auto number = whole_number(id);
  if (!number)
    throw usage_error("the id of '", printable(name), "' should be a number from 0 on, found ",
                      id.type_name(), id.is_number() ? " " + id.dump() : "");
  if (*number >= names_.size())
    throw usage_error("'", printable(name), "' has id ", *number, ", but there are ", names_.size(),
                      " tokens; ids must be 0 to ", names_.size() - 1);
  if (taken_[*number])
    throw usage_error("'", printable(names_[*number]), "' and '", printable(name), "' both have id ",
                      *number);
  taken_[*number] = true;
  names_[*number] = name;
}

std::vector<std::string> IdNames::take() {
  for (size_t id = 0; id < taken_.size(); ++id) {
    if (!taken_[id])
      throw usage_error("no token has id ", id, ", though there are ", taken_.size(), " tokens");
  }
  return std::move(names_);
}

std::vector<std::string> names_by_id(const Json& vocabulary) {
  IdNames names(vocabulary.size());
  for (const auto& [name, id] : vocabulary.items()) names.set(id, name);
  return names.take();
}

int32_t added_id(const Json& json, const std::string& content) {
  const auto number = whole_number(json);
  if (!number || *number > INT32_MAX)
    throw usage_error("the added token '", printable(content), "' has no valid id");
  return static_cast<int32_t>(*number);
}

std::vector<AddedToken> added_tokens_of(const Json& json) {
  std::vector<AddedToken> added;
  const auto found = json.find("added_tokens");
  if (found == json.end() || found->is_null()) return added;
  std::unordered_set<std::string> contents;
  for (const Json& token : array_at(json, "added_tokens")) {
    AddedToken made;
    made.content = string_at(token, "content");
    made.id = added_id(token.value("id", Json()), made.content);
    made.special = token.value("special", Json(true)) != Json(false);
    if (made.content.empty()) throw usage_error("the added token with id ", made.id, " is empty");
    if (!contents.insert(made.content).second)
      throw usage_error("'", printable(made.content), "' appears twice among the added tokens");
    added.push_back(std::move(made));
  }
  return added;
}

Json json_of(const std::vector<AddedToken>& added) {
  Json json = Json::array();
  for (const AddedToken& token : added) {
    Json& one = json.emplace_back();
    one["id"] = token.id;
    one["content"] = token.content;
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) one[flag] = false;
    one["special"] = token.special;
  }
  return json;
}

Json tokenizer_json(JsonParts parts) {
  Json json;
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = std::move(parts.added_tokens);
  json["normalizer"] = std::move(parts.normalizer);
  json["pre_tokenizer"] = std::move(parts.pre_tokenizer);
  json["post_processor"] = std::move(parts.post_processor);
  json["decoder"] = std::move(parts.decoder);
  json["model"] = std::move(parts.model);
  return json;
}

Json byte_level_part(bool split) {
  Json json;
  json["type"] = "ByteLevel";
  json["add_prefix_space"] = false;
  json["trim_offsets"] = true;
  json["use_regex"] = split;
  return json;
}

Json replace_newline_part(const std::string& by) {
  Json json;
  json["type"] = "Replace";
  json["pattern"]["String"] = "\n";
  json["content"] = by;
  return json;
}

std::string printable(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out;
  for (char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      out += escaped;
    }
  }
  return text.size() > kLongest ? out + "..." : out;
}

}  // namespace heed::data
