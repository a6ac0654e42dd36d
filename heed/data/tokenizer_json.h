// What the kinds of tokenizers share in reading and writing Hugging Face's tokenizer.json.
//
// heed's own kinds put what that format cannot say under "heed" inside "model": its library passes over
// unknown keys there, but refuses them at the top.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"

namespace heed::data {

// The "heed" part of a file that a tokenizer of this kind wrote; null if the file is another's.
const Json* heed_part(const Json& json, std::string_view kind);

// `json[key]` of the given type, or an Error that says what is there instead.
const Json& object_at(const Json& json, const char* key);
const Json& array_at(const Json& json, const char* key);
std::string string_at(const Json& json, const char* key);

// The number, if it is a whole one from 0 on.
std::optional<uint64_t> whole_number(const Json& json);

// Names of ids 0, 1, 2, ..., gathered from a file. Each id must come once and none may be missing.
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

// A whole tokenizer.json around `model`. The parts are null where there are none.
struct JsonParts {
  Json model, pre_tokenizer, normalizer, decoder;
  Json added_tokens = Json::array();
};
Json tokenizer_json(JsonParts parts);

// ByteLevel as pre-tokenizer or decoder; `split`: with GPT-2's pattern.
Json byte_level_part(bool split);
// A normalizer that replaces each line end.
Json replace_newline_part(const std::string& by);

// Text for a message: at most some dozens of bytes, what is not printable as \x..
std::string printable(std::string_view text);

}  // namespace heed::data
