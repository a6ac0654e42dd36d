#include "heed/data/bpe_files.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "heed/data/byte_level.h"
#include "heed/data/tokenizer_json.h"

namespace heed::data {
namespace {

// Builds a vocabulary from names as files write them.
class Builder {
 public:
  Builder(const Json& vocabulary, std::vector<AddedToken> added, size_t merges) {
    made_.merges = BpeMerges(merges);
    made_.added = std::move(added);
    std::unordered_map<std::string, int32_t> added_ids;
    for (const AddedToken& token : made_.added) added_ids.emplace(token.content, token.id);
    size_t size = vocabulary.size();
    for (const AddedToken& token : made_.added) size += !vocabulary.contains(token.content);
    IdNames names(size);
    for (const auto& [name, id] : vocabulary.items()) {
      if (const auto found = added_ids.find(name); found != added_ids.end()) {
        if (id != found->second)
          throw usage_error("'", printable(name), "' has id ", found->second,
                            " as an added token, but another in the vocabulary");
        ids_.emplace(name, found->second);
        continue;
      }
      const auto bytes = from_byte_level(name);
      if (!bytes || bytes->empty())
        throw usage_error("token '", printable(name), "' is not written in GPT-2's alphabet of bytes");
      names.set(id, *bytes);
      ids_.emplace(name, id.get<int32_t>());
    }
    for (const AddedToken& token : made_.added) names.set(static_cast<uint32_t>(token.id), token.content);
    made_.tokens = names.take();
    std::sort(made_.added.begin(), made_.added.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
  }

  void merge(const std::string& left, const std::string& right) {
    const int32_t id = id_of(left + right, left, right);
    if (!made_.merges.add(id_of(left, left, right), id_of(right, left, right), id))
      throw usage_error("the merge of '", printable(left), "' and '", printable(right), "' appears twice");
  }

  void merge(std::string_view line) {
    const size_t space = line.find(' ');
    if (space == line.npos || space == 0 || space + 1 == line.size() ||
        line.find(' ', space + 1) != line.npos)
      throw usage_error("a merge should be two tokens with one space between them, found '", printable(line),
                        "'");
    merge(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
  }

  BpeVocabulary take() { return std::move(made_); }

 private:
  int32_t id_of(const std::string& name, const std::string& left, const std::string& right) const {
    const auto found = ids_.find(name);
    if (found == ids_.end())
      throw usage_error("the merge of '", printable(left), "' and '", printable(right), "' needs the token '",
                        printable(name), "', which is not in the vocabulary");
    return found->second;
  }

  BpeVocabulary made_;
  std::unordered_map<std::string, int32_t> ids_;
};

// Settings of the model that change the ids, and the values at which they do not.
void refuse_other_settings(const Json& json) {
  const auto require = [](const Json& where, const char* key, const std::vector<Json>& allowed) {
    const auto found = where.find(key);
    if (found == where.end() || std::find(allowed.begin(), allowed.end(), *found) != allowed.end()) return;
    throw usage_error("'", key, "' differs from GPT-2 (", printable(found->dump()),
                      "); such a tokenizer is not supported");
  };
  require(json, "normalizer", {nullptr});
  const Json& model = json["model"];
  require(model, "dropout", {nullptr, 0.0});
  require(model, "continuing_subword_prefix", {nullptr, ""});
  require(model, "end_of_word_suffix", {nullptr, ""});
  require(model, "byte_fallback", {nullptr, false});
  require(model, "ignore_merges", {nullptr, false});
  const Json& splitter = object_at(json, "pre_tokenizer");
  if (string_at(splitter, "type") != "ByteLevel")
    throw usage_error("'pre_tokenizer' is ", printable(string_at(splitter, "type")),
                      "; only ByteLevel is supported");
  require(splitter, "add_prefix_space", {false});
  require(splitter, "use_regex", {true});
}

}  // namespace

bool is_bpe_json(const Json& json) {
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object()) return false;
  const Json& model = json["model"];
  // Older files without a type have merges, which no other kind has.
  const auto type = model.find("type");
  return !model.contains("heed") && (type == model.end() ? model.contains("merges") : *type == "BPE");
}

BpeVocabulary bpe_from_json(const Json& json) {
  const Json& model = object_at(json, "model");
  refuse_other_settings(json);
  const Json& merges = array_at(model, "merges");
  Builder builder(object_at(model, "vocab"), added_tokens_of(json), merges.size());
  for (const Json& merge : merges) {
    if (merge.is_string()) {
      builder.merge(std::string_view(merge.get_ref<const std::string&>()));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      builder.merge(merge[0].get<std::string>(), merge[1].get<std::string>());
    } else {
      throw usage_error("a merge should be \"left right\" or [\"left\", \"right\"], found ",
                        merge.type_name());
    }
  }
  return builder.take();
}

BpeVocabulary bpe_from_gpt2_files(const Json& encoder, std::string_view merges) {
  if (!encoder.is_object())
    throw usage_error("encoder.json should be an object of tokens and ids, found ", encoder.type_name());
  std::vector<AddedToken> added;
  const auto end = encoder.find(BpeVocabulary::kEndOfText);
  if (end != encoder.end()) {
    added.push_back({added_id(*end, BpeVocabulary::kEndOfText), BpeVocabulary::kEndOfText, true});
  }
  Builder builder(encoder, std::move(added), encoder.size());
  bool first = true;
  while (!merges.empty()) {
    const std::string_view line = merges.substr(0, merges.find('\n'));
    merges.remove_prefix(std::min(merges.size(), line.size() + 1));
    // A merge may start with "#" too: only the first line can be a comment.
    if (!line.empty() && !(first && line.starts_with("#version"))) builder.merge(line);
    first = false;
  }
  return builder.take();
}

Json bpe_to_json(const BpeVocabulary& vocabulary) {
  JsonParts parts;
  parts.added_tokens = json_of(vocabulary.added);
  parts.pre_tokenizer = byte_level_part(true);
  parts.decoder = byte_level_part(true);
  Json& model = parts.model;
  model["type"] = "BPE";
  for (const char* key : {"dropout", "unk_token"}) model[key] = nullptr;
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) model[key] = "";
  model["fuse_unk"] = false;
  std::vector<std::string> names;
  for (const std::string& token : vocabulary.tokens) names.push_back(to_byte_level(token));
  for (const AddedToken& token : vocabulary.added) names[static_cast<size_t>(token.id)] = token.content;
  Json::object_t vocab;
  for (size_t id = 0; id < names.size(); ++id) vocab.emplace(names[id], id);
  model["vocab"] = std::move(vocab);
  Json::array_t merges;
  for (const BpeMerges::Entry& entry : vocabulary.merges.entries())
    merges.push_back(names[static_cast<size_t>(entry.left)] + " " + names[static_cast<size_t>(entry.right)]);
  model["merges"] = std::move(merges);
  return tokenizer_json(std::move(parts));
}

}  // namespace heed::data
