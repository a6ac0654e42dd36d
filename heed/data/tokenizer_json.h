// Reading and writing Hugging Face's tokenizer.json, shared by all kinds of tokenizers.
//
// heed's own kinds put what that format cannot express under "heed" inside "model": its library ignores
// unknown keys there, but refuses them at the top level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"

namespace heed::data {

// The "heed" part of a file that a tokenizer of this kind wrote; null for any other file.
const Json* heed_part(const Json& json, std::string_view kind);

// `json[key]` of the given type. Throws an Error that says what is there instead.
const Json& object_at(const Json& json, const char* key);
const Json& array_at(const Json& json, const char* key);
std::string string_at(const Json& json, const char* key);

// The number, if it is whole and not negative.
std::optional<uint64_t> whole_number(const Json& json);

// Names of ids 0, 1, 2, ..., gathered from a file. Each id must appear exactly once.
class IdNames {
 public:
  explicit IdNames(size_t size) : names_(size), taken_(size) {}
  void set(const Json& id, const std::string& name);
  // Throws if an id was never set.
  std::vector<std::string> take();

 private:
  std::vector<std::string> names_;
  std::vector<bool> taken_;
};

// {name: id} as names by id.
std::vector<std::string> names_by_id(const Json& vocabulary);

// A token with an id of its own, whatever the model would make of its content: special ones mostly.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = true;
};
// The id of `content`, which must be a whole number.
int32_t added_id(const Json& json, const std::string& content);
// 'added_tokens' of a file, as they stand there; none if it has none. Each content must be there once.
std::vector<AddedToken> added_tokens_of(const Json& json);
Json json_of(const std::vector<AddedToken>& added);

// A whole tokenizer.json around `model`. The parts are null where there are none.
struct JsonParts {
  Json model, pre_tokenizer, normalizer, post_processor, decoder;
  Json added_tokens = Json::array();
};
Json tokenizer_json(JsonParts parts);

// ByteLevel as pre-tokenizer or decoder; `split`: with GPT-2's pattern.
Json byte_level_part(bool split);
// A normalizer that replaces each line end.
Json replace_newline_part(const std::string& by);

// Text for a message: at most a few dozen bytes, unprintable ones as \x..
std::string printable(std::string_view text);

}  // namespace heed::data
