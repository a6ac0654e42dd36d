#include "heed/data/bytes_tokenizer.h"

#include <algorithm>

#include "heed/data/byte_level.h"
#include "heed/data/tokenizer_json.h"

namespace heed::data {
namespace {

class BytesTokenizer : public Tokenizer {
 public:
  static constexpr const char* kKind = "bytes";
  std::string_view kind() const override { return kKind; }
  int64_t size() const override { return 256; }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    const size_t before = ids.size();
    ids.resize(before + text.size());
    std::transform(text.begin(), text.end(), ids.begin() + static_cast<std::ptrdiff_t>(before),
                   [](char byte) { return static_cast<uint8_t>(byte); });
  }

  size_t cut_before(std::string_view text, size_t position) const override {
    return std::min(position, text.size());
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    text.reserve(ids.size());
    for (int32_t id : ids) text += static_cast<char>(index_of(id));
    return text;
  }

  // A byte-pair encoding without merges.
  Json to_json() const override {
    JsonParts parts;
    parts.pre_tokenizer = parts.decoder = byte_level_part(false);
    parts.model["type"] = "BPE";
    parts.model["merges"] = Json::array();
    parts.model["heed"]["kind"] = kKind;
    for (int b = 0; b < 256; ++b)
      parts.model["vocab"][to_byte_level(std::string(1, static_cast<char>(b)))] = b;
    return tokenizer_json(std::move(parts));
  }
};

std::unique_ptr<Tokenizer> learn(const TokenizerSpec& spec, const TextSource&) {
  if (spec.vocabulary != 0 && spec.vocabulary != 256)
    throw usage_error("bytes: a vocabulary of ", spec.vocabulary,
                      " was asked for, but bytes always have 256");
  refuse_newline(spec);
  return std::make_unique<BytesTokenizer>();
}

std::unique_ptr<Tokenizer> read(const Json& json) {
  if (!heed_part(json, BytesTokenizer::kKind)) return nullptr;
  auto made = std::make_unique<BytesTokenizer>();
  if (object_at(json["model"], "vocab") != made->to_json()["model"]["vocab"])
    throw damaged_error("the vocabulary of bytes is damaged: each byte must have its value as id");
  return made;
}

}  // namespace

TokenizerEntry bytes_tokenizer() {
  return {BytesTokenizer::kKind, "one token per byte, 256 of them", learn, read, true, false, 256};
}

}  // namespace heed::data
