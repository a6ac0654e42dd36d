#include "heed/data/character_tokenizer.h"

#include <algorithm>
#include <array>

#include "heed/data/byte_level.h"
#include "heed/data/tokenizer_json.h"

namespace heed::data {
namespace {

constexpr size_t kNewline = '\n';

class CharacterTokenizer : public Tokenizer {
 public:
  static constexpr const char* kKind = "characters";

  // `symbols`: the byte of each id, each byte at most once.
  CharacterTokenizer(std::string symbols, Newline newline) : symbols_(std::move(symbols)), newline_(newline) {
    ids_.fill(-1);
    for (size_t id = 0; id < symbols_.size(); ++id)
      ids_[static_cast<uint8_t>(symbols_[id])] = static_cast<int16_t>(id);
  }

  std::string_view kind() const override { return kKind; }
  int64_t size() const override { return static_cast<int64_t>(symbols_.size()); }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    for (size_t at = 0; at < text.size(); ++at) {
      const auto byte = static_cast<uint8_t>(text[at]);
      if (byte == kNewline && newline_ == Newline::kDrop) continue;
      if (ids_[byte] < 0)
        throw usage_error("characters: '", printable(text.substr(at, 1)), "' at byte ", at,
                          " of the text is not in the vocabulary; learn the vocabulary from all parts of the "
                          "text, or use bytes");
      ids.push_back(ids_[byte]);
    }
  }

  size_t cut_before(std::string_view text, size_t position) const override {
    return std::min(position, text.size());
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    text.reserve(ids.size());
    for (int32_t id : ids) text += symbols_[index_of(id)];
    return text;
  }

  // A byte-pair encoding without merges; line ends that are dropped are a normalizer.
  Json to_json() const override {
    JsonParts parts;
    parts.pre_tokenizer = parts.decoder = byte_level_part(false);
    if (newline_ == Newline::kDrop) parts.normalizer = replace_newline_part("");
    parts.model["type"] = "BPE";
    parts.model["merges"] = Json::array();
    parts.model["vocab"] = Json::object();
    for (size_t id = 0; id < symbols_.size(); ++id)
      parts.model["vocab"][to_byte_level(symbols_.substr(id, 1))] = id;
    parts.model["heed"]["kind"] = kKind;
    parts.model["heed"]["newline"] = enum_name(newline_);
    return tokenizer_json(std::move(parts));
  }

  int32_t end() const override { return newline_ == Newline::kEos ? ids_[kNewline] : -1; }

 private:
  std::string symbols_;
  Newline newline_;
  std::array<int16_t, 256> ids_;
};

Newline newline_from_name(const std::string& name) {
  try {
    return enum_from_name<Newline>(name);
  } catch (const Error& error) {
    throw usage_error("characters: newline: ", error.what());
  }
}

std::unique_ptr<Tokenizer> learn(const TokenizerSpec& spec, const TextSource& text) {
  if (spec.vocabulary != 0)
    throw usage_error("characters: a vocabulary of ", spec.vocabulary,
                      " was asked for, but it is always all that occur; leave it at 0, or use bpe");
  const Newline newline = newline_from_name(spec.newline);
  std::array<int64_t, 256> counts{};
  std::string symbols;  // in order of appearance
  text([&](std::string_view piece) {
    for (char symbol : piece) {
      if (counts[static_cast<uint8_t>(symbol)]++ == 0) symbols += symbol;
    }
  });
  if (newline == Newline::kDrop) std::erase(symbols, '\n');
  if (newline == Newline::kEos && counts[kNewline] == 0) symbols += '\n';
  if (symbols.empty()) throw usage_error("characters: the text to learn from is empty");
  std::stable_sort(symbols.begin(), symbols.end(), [&](char a, char b) {
    return counts[static_cast<uint8_t>(a)] > counts[static_cast<uint8_t>(b)];
  });
  return std::make_unique<CharacterTokenizer>(std::move(symbols), newline);
}

std::unique_ptr<Tokenizer> read(const Json& json) {
  const Json* part = heed_part(json, CharacterTokenizer::kKind);
  if (!part) return nullptr;
  const Newline newline = newline_from_name(string_at(*part, "newline"));
  std::string symbols;
  for (const std::string& name : names_by_id(object_at(json["model"], "vocab"))) {
    const auto byte = from_byte_level(name);
    if (!byte || byte->size() != 1) throw usage_error("'", printable(name), "' does not stand for one byte");
    symbols += *byte;
  }
  if (symbols.empty()) throw usage_error("the vocabulary is empty");
  if (newline == Newline::kEos && symbols.find('\n') == std::string::npos)
    throw usage_error("the vocabulary has no line end, though line ends are its end symbol");
  return std::make_unique<CharacterTokenizer>(std::move(symbols), newline);
}

}  // namespace

TokenizerEntry character_tokenizer() {
  return {CharacterTokenizer::kKind,
          "one token per byte that occurs, as for enwik8 and text8",
          learn,
          read,
          true,
          true};
}

}  // namespace heed::data
