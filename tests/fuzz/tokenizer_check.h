// What any tokenizer that was read from a file keeps, and what spans of tokens do.
#pragma once

#include "heed/data/tokenizer.h"
#include "tests/fuzz/support.h"

namespace heed::fuzz {

// Spans belong to the ids of the text, and lie in it one after the other.
inline void check_spans(const data::Tokenizer& tokenizer, std::string_view text,
                        const std::vector<int32_t>& expected) {
  std::vector<int32_t> ids;
  std::vector<data::TokenSpan> spans;
  if (!answers([&] { tokenizer.encode_with_spans(text, ids, spans); })) return;  // most kinds have none
  law(ids == expected && ids.size() == spans.size(), "a span for each id");
  size_t begin = 0;
  for (const data::TokenSpan& span : spans) {
    law(span.begin >= begin && span.begin < span.end && span.end <= text.size(),
        "spans are parts of the text");
    begin = span.begin;
  }
}

inline void check_tokenizer(const data::Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> all(static_cast<size_t>(std::min<int64_t>(tokenizer.size(), 300)));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  must("all ids can be read", [&] { return tokenizer.decode(all); });
  const Json json = tokenizer.to_json();
  const data::TokenizerEntry& entry = data::tokenizers().find(std::string(tokenizer.kind()));
  constexpr const char* kLaw = "tokenizer -> JSON -> tokenizer";
  const auto again = must(kLaw, [&] { return entry.read(Json::parse(json.dump())); });
  law(again && again->to_json() == json, kLaw);
  std::vector<int32_t> ids, ids_again;
  if (!answers([&] { tokenizer.encode(text, ids); })) return;
  must("what could be encoded still can be", [&] { again->encode(text, ids_again); });
  law(ids == ids_again, "the tokenizer that was read again gives the same ids");
  for (const int32_t id : ids) law(id >= 0 && id < tokenizer.size(), "ids are in the vocabulary");
  check_spans(tokenizer, text, ids);
  if (tokenizer.kind() == "bpe" || tokenizer.kind() == "bytes")
    law(tokenizer.decode(ids) == text, "ids stand for the text");
}

}  // namespace heed::fuzz
