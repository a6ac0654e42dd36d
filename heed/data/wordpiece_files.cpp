#include "heed/data/wordpiece_files.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "heed/data/utf8.h"

namespace heed::data {
namespace {

constexpr const char* kBlanks = " \t\n\r";

const Json& value_at(const Json& json, const char* key) {
  static const Json nothing;
  const auto found = json.find(key);
  return found == json.end() ? nothing : *found;
}

std::optional<bool> switch_at(const Json& json, const char* key) {
  const Json& value = value_at(json, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_boolean())
    throw usage_error("'", key, "' should be true or false, found ", printable(value.dump()));
  return value.get<bool>();
}

// Settings that change the ids, and the values at which they do not.
void require(const Json& where, const char* key, const std::vector<Json>& allowed) {
  const auto found = where.find(key);
  if (found == where.end() || std::find(allowed.begin(), allowed.end(), *found) != allowed.end()) return;
  throw usage_error("'", key, "' differs from BERT (", printable(found->dump()),
                    "); such a tokenizer is not supported");
}

void require_type(const Json& json, const char* key, const char* type) {
  if (const std::string found = string_at(object_at(json, key), "type"); found != type)
    throw usage_error("'", key, "' is ", printable(found), "; only ", type, " is supported");
}

// The five special tokens join the added ones.
void complete(WordPieceVocabulary& made) {
  std::unordered_map<std::string, int32_t> ids;
  for (size_t id = 0; id < made.tokens.size(); ++id) ids.emplace(made.tokens[id], static_cast<int32_t>(id));
  for (const char* content : WordPieceVocabulary::kSpecial) {
    const auto found = ids.find(content);
    if (found == ids.end())
      throw usage_error("the vocabulary of ", made.tokens.size(), " tokens has no ", content,
                        "; BERT needs [PAD], [UNK], [CLS], [SEP] and [MASK]");
    const bool there = std::any_of(made.added.begin(), made.added.end(),
                                   [&](const AddedToken& token) { return token.content == content; });
    if (!there) made.added.push_back({found->second, content, true});
  }
  std::sort(made.added.begin(), made.added.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

// With a blank in it, a text could not be cut at blanks.
void check_added(const AddedToken& token, const Json& json) {
  if (token.content.find_first_of(kBlanks) != token.content.npos)
    throw usage_error("the added token '", printable(token.content), "' has white space in it; such a ",
                      "tokenizer is not supported");
  for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) {
    if (switch_at(json, flag).value_or(false))
      throw usage_error("the added token '", printable(token.content), "' is '", flag, "', which BERT's are ",
                        "not; such a tokenizer is not supported");
  }
}

bool has_capitals(const std::vector<std::string>& tokens) {
  BertNormalizer lowering({true, false, true, false}), keeping({true, false, false, false});
  return std::any_of(tokens.begin(), tokens.end(), [&](const std::string& token) {
    if (token.starts_with('[') && token.ends_with(']')) return false;  // [unused7] and the special ones
    const auto same = [](const WordCharacter& a, const WordCharacter& b) {
      return a.code_point == b.code_point;
    };
    const auto a = lowering.normalize(token), b = keeping.normalize(token);
    return !std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  });
}

}  // namespace

bool is_wordpiece_json(const Json& json) {
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object()) return false;
  const Json& model = json["model"];
  return !model.contains("heed") && value_at(model, "type") == "WordPiece";
}

WordPieceVocabulary wordpiece_from_json(const Json& json) {
  const Json& model = object_at(json, "model");
  require(model, "unk_token", {WordPieceVocabulary::kUnknown});
  require(model, "continuing_subword_prefix", {WordPieceVocabulary::kPrefix});
  require_type(json, "pre_tokenizer", "BertPreTokenizer");
  require_type(json, "normalizer", "BertNormalizer");

  WordPieceVocabulary made;
  const Json& normalizer = json["normalizer"];
  made.words.clean_text = switch_at(normalizer, "clean_text").value_or(true);
  made.words.chinese_characters = switch_at(normalizer, "handle_chinese_chars").value_or(true);
  made.words.lower_case = switch_at(normalizer, "lowercase").value_or(true);
  made.words.strip_accents = switch_at(normalizer, "strip_accents").value_or(made.words.lower_case);
  if (const Json& longest = value_at(model, "max_input_chars_per_word"); !longest.is_null()) {
    const auto number = whole_number(longest);
    if (!number || *number > INT32_MAX)
      throw usage_error("'max_input_chars_per_word' should be a number from 0 on, found ",
                        printable(longest.dump()));
    made.longest_word = static_cast<int64_t>(*number);
  }

  made.added = added_tokens_of(json);
  const Json& vocabulary = object_at(model, "vocab");
  size_t size = vocabulary.size();
  for (size_t i = 0; i < made.added.size(); ++i) {
    check_added(made.added[i], json["added_tokens"][i]);
    const Json& id = value_at(vocabulary, made.added[i].content.c_str());
    size += id.is_null();
    if (!id.is_null() && id != made.added[i].id)
      throw usage_error("'", printable(made.added[i].content), "' has id ", made.added[i].id,
                        " as an added token, but another in the vocabulary");
  }
  IdNames names(size);
  for (const auto& [name, id] : vocabulary.items()) {
    if (name.empty()) throw usage_error("the vocabulary has an empty token");
    names.set(id, name);
  }
  for (const AddedToken& token : made.added) {
    if (!vocabulary.contains(token.content)) names.set(static_cast<uint32_t>(token.id), token.content);
  }
  made.tokens = names.take();
  complete(made);
  return made;
}

WordPieceVocabulary wordpiece_from_lines(std::string_view lines, const Json& config) {
  WordPieceVocabulary made;
  std::unordered_map<std::string_view, size_t> line_of;
  while (!lines.empty()) {
    std::string_view token = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), token.size() + 1));
    if (token.ends_with('\r')) token.remove_suffix(1);
    const size_t line = made.tokens.size() + 1;
    if (token.empty()) throw usage_error("line ", line, " is empty; each line should be a token");
    if (!is_utf8(token)) throw usage_error("line ", line, ", '", printable(token), "', is not UTF-8");
    if (const auto [first, is_new] = line_of.emplace(token, line); !is_new)
      throw usage_error("lines ", first->second, " and ", line, " are both '", printable(token), "'");
    made.tokens.emplace_back(token);
  }
  if (made.tokens.size() > INT32_MAX) throw usage_error("there are too many tokens");
  complete(made);

  if (!config.is_null() && !config.is_object())
    throw usage_error("tokenizer_config.json should be an object, found ", config.type_name());
  const Json settings = config.is_null() ? Json::object() : config;
  require(settings, "do_basic_tokenize", {nullptr, true});
  made.words.lower_case = switch_at(settings, "do_lower_case").value_or(!has_capitals(made.tokens));
  made.words.strip_accents = switch_at(settings, "strip_accents").value_or(made.words.lower_case);
  made.words.chinese_characters = switch_at(settings, "tokenize_chinese_chars").value_or(true);
  return made;
}

Json wordpiece_to_json(const WordPieceVocabulary& vocabulary) {
  JsonParts parts;
  parts.added_tokens = json_of(vocabulary.added);

  parts.normalizer["type"] = "BertNormalizer";
  parts.normalizer["clean_text"] = vocabulary.words.clean_text;
  parts.normalizer["handle_chinese_chars"] = vocabulary.words.chinese_characters;
  parts.normalizer["lowercase"] = vocabulary.words.lower_case;
  parts.normalizer["strip_accents"] = nullptr;  // as lowercase
  if (vocabulary.words.strip_accents != vocabulary.words.lower_case)
    parts.normalizer["strip_accents"] = vocabulary.words.strip_accents;
  parts.pre_tokenizer["type"] = "BertPreTokenizer";

  // What other tools put around one text, and around two. `encode` leaves it to the batches.
  Json& around = parts.post_processor;
  const auto special = [](const char* token, int type) {
    return Json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
  };
  const auto text = [](const char* name, int type) {
    return Json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  around["type"] = "TemplateProcessing";
  around["single"] = {special("[CLS]", 0), text("A", 0), special("[SEP]", 0)};
  around["pair"] = {special("[CLS]", 0), text("A", 0), special("[SEP]", 0), text("B", 1),
                    special("[SEP]", 1)};
  for (const AddedToken& token : vocabulary.added) {
    if (token.content != "[CLS]" && token.content != "[SEP]") continue;
    Json& known = around["special_tokens"][token.content];
    known["id"] = token.content;
    known["ids"] = Json::array({token.id});
    known["tokens"] = Json::array({token.content});
  }

  parts.decoder["type"] = "WordPiece";
  parts.decoder["prefix"] = WordPieceVocabulary::kPrefix;
  parts.decoder["cleanup"] = true;

  parts.model["type"] = "WordPiece";
  parts.model["unk_token"] = WordPieceVocabulary::kUnknown;
  parts.model["continuing_subword_prefix"] = WordPieceVocabulary::kPrefix;
  parts.model["max_input_chars_per_word"] = vocabulary.longest_word;
  Json::object_t vocab;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) vocab.emplace(vocabulary.tokens[id], id);
  parts.model["vocab"] = std::move(vocab);
  return tokenizer_json(std::move(parts));
}

}  // namespace heed::data
